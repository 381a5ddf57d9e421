//! Kernels: read from text, and what they declare.

use std::borrow::Cow;
use std::ffi::{CString, c_char};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

use crease::Kernel;
use crease::kernel::LONGEST_TEXT_BYTES;
use crease::kernel::graph::{Array, Element, Observer, ParamKind, Role};

use crate::constants::constants;
use crate::handle::Handle;
use crate::raw::{Out, Text, Told, c_string, exports};
use crate::status::{ArgumentError, Failure};
use crate::text::OwnedText;

constants! {
    /// Cells of eight bytes.
    F64 = 1,
    /// Of four.
    F32 = 2,
    /// Of two, IEEE 754 half precision.
    F16 = 3,
    /// Unsigned integers of one byte.
    U8 = 4,
    /// Signed ones.
    I8 = 5,
    /// Of two bytes.
    I16 = 6,
    /// Without sign.
    U16 = 7,
    /// Of four.
    I32 = 8,
    /// Without sign.
    U32 = 9,
    /// Signed integers of eight bytes.
    I64 = 10,
    /// The caller's, only read.
    INPUT = 1,
    /// The caller's, written.
    OUTPUT = 2,
    /// Folded, dead before and after.
    TEMP = 3,
    /// Folded, kept from step to step.
    STATE = 4,
    /// Bound when a plan is made.
    SIZE = 1,
    /// The number of steps.
    STEPS = 2,
}

/// The text in a file, which may be a device without an end.
fn text_of(path: &str) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST_TEXT_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST_TEXT_BYTES {
        let why = format!("it has more than the {LONGEST_TEXT_BYTES} bytes that the text of a kernel may have");
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(text)
}

/// A kernel with the names that callers are shown.
pub(crate) struct KernelBody {
    pub(crate) kernel: Arc<Kernel>,
    name: CString,
    arrays: Vec<CString>,
    scalars: Vec<CString>,
    params: Vec<CString>,
    schedules: Vec<CString>,
    pub(crate) observers: Vec<ObserverNames>,
}

/// The names of an observer and of its outputs, as callers are shown them.
pub(crate) struct ObserverNames {
    pub(crate) name: CString,
    pub(crate) outputs: Vec<CString>,
    /// How values become an output that is one number, of those that are.
    pub(crate) reductions: Vec<Option<CString>>,
}

/// An array as a kernel declares it.
#[repr(C)]
pub(crate) struct ArrayInfo {
    name: Told<c_char>,
    role: i32,
    element: i32,
    rank: usize,
    levels: u32,
}

impl KernelBody {
    pub(crate) fn new(kernel: Kernel) -> Result<KernelBody, Failure> {
        let names = |names: Vec<&str>| names.into_iter().map(|name| c_string("a name", name)).collect();
        let arrays: Result<_, Failure> = names(kernel.arrays().iter().map(|array| array.name.as_str()).collect());
        let scalars: Result<_, Failure> = names(kernel.scalars().iter().map(|scalar| scalar.name.as_str()).collect());
        let params: Result<_, Failure> = names(kernel.params().iter().map(|param| param.name.as_str()).collect());
        let schedules: Result<_, Failure> = names(kernel.schedules().iter().map(|s| s.name.as_str()).collect());
        Ok(KernelBody {
            name: c_string("a name", kernel.name())?,
            arrays: arrays?,
            scalars: scalars?,
            params: params?,
            schedules: schedules?,
            observers: ObserverNames::of(&kernel)?,
            kernel: Arc::new(kernel),
        })
    }

    /// One of a list.
    fn item<'a, T>(&self, what: &'static str, items: &'a [T], position: usize) -> Result<&'a T, ArgumentError> {
        item(what, || format!("kernel `{}`", self.kernel.name()), items, position)
    }
}

impl ObserverNames {
    /// Of all observers of a kernel.
    fn of(kernel: &Kernel) -> Result<Vec<ObserverNames>, Failure> {
        let names = |observer: &Observer| {
            let name = |text: &str| c_string("a name", text);
            let outputs = observer.arrays.iter().map(|array| name(&array.name)).collect::<Result<_, _>>()?;
            let reductions = observer.reductions.iter().map(|of| of.map(|of| name(of.name())).transpose());
            Ok(ObserverNames {
                name: name(&observer.name)?,
                outputs,
                reductions: reductions.collect::<Result<_, _>>()?,
            })
        };
        kernel.observers().iter().map(names).collect()
    }

    /// The observer's name in messages.
    pub(crate) fn shown(&self) -> Cow<'_, str> {
        self.name.to_string_lossy()
    }
}

impl ArrayInfo {
    /// An output of an observer.
    pub(crate) fn observed(name: &CString, output: &Array) -> ArrayInfo {
        let (element, rank) = (element_number(output.element), output.index.len());
        ArrayInfo { name: Told::string(name), role: OUTPUT, element, rank, levels: 0 }
    }
}

/// One of a list; an error that says of what the list is.
pub(crate) fn item<'a, T>(
    what: &'static str,
    owner: impl Fn() -> String,
    items: &'a [T],
    position: usize,
) -> Result<&'a T, ArgumentError> {
    let none = || ArgumentError::Position { what, owner: owner(), position, count: items.len() };
    items.get(position).ok_or_else(none)
}

/// The number of an element type.
pub(crate) fn element_number(element: Element) -> i32 {
    match element {
        Element::F64 => F64,
        Element::F32 => F32,
        Element::F16 => F16,
        Element::U8 => U8,
        Element::I8 => I8,
        Element::I16 => I16,
        Element::U16 => U16,
        Element::I32 => I32,
        Element::U32 => U32,
        Element::I64 => I64,
    }
}

/// The element type of a number.
pub(crate) fn element_of(number: i32) -> Result<Element, ArgumentError> {
    let known = "element types are CREASE_F64, CREASE_F32, CREASE_F16, CREASE_U8, CREASE_I8, CREASE_I16, CREASE_U16, \
                 CREASE_I32, CREASE_U32 and CREASE_I64";
    let found = Element::ALL.into_iter().find(|element| element_number(*element) == number);
    found.ok_or(ArgumentError::Choice { argument: "element", found: i64::from(number), known })
}

/// Indices of an array as callers see it, without a state's step.
pub(crate) fn rank(kernel: &Kernel, position: usize) -> usize {
    let array = &kernel.arrays()[position];
    array.index.len() - usize::from(array.role == Role::State)
}

exports! {
    fn crease_kernel_parse(text: Text, kernel: Out<Handle<KernelBody>>) {
        kernel.make("kernel", || KernelBody::new(Kernel::parse(text.get("text")?)?))
    }

    fn crease_kernel_read(path: Text, kernel: Out<Handle<KernelBody>>) {
        kernel.make("kernel", || {
            let path = path.get("path")?;
            KernelBody::new(Kernel::parse(&text_of(path).map_err(|why| Failure::file(path, &why))?)?)
        })
    }

    fn crease_kernel_text(kernel: Handle<KernelBody>, text: Out<OwnedText>) {
        text.make("text", || Ok(kernel.get("kernel")?.kernel.to_string()))
    }

    fn crease_kernel_name(kernel: Handle<KernelBody>, name: Out<Told<c_char>>) {
        name.verify("name")?;
        name.put(Told::string(&kernel.get("kernel")?.name));
        Ok(())
    }

    fn crease_kernel_has_state(kernel: Handle<KernelBody>, has_state: Out<i32>) {
        has_state.verify("has_state")?;
        has_state.put(i32::from(kernel.get("kernel")?.kernel.has_state()));
        Ok(())
    }

    fn crease_kernel_counts(
        kernel: Handle<KernelBody>,
        arrays: Out<usize>,
        scalars: Out<usize>,
        params: Out<usize>,
        schedules: Out<usize>,
    ) {
        let body = kernel.get("kernel")?;
        arrays.put(body.arrays.len());
        scalars.put(body.scalars.len());
        params.put(body.params.len());
        schedules.put(body.schedules.len());
        Ok(())
    }

    fn crease_kernel_array(kernel: Handle<KernelBody>, position: usize, info: Out<ArrayInfo>) {
        info.verify("info")?;
        let body = kernel.get("kernel")?;
        let name = body.item("array", &body.arrays, position)?;
        let (array, id) = (&body.kernel.arrays()[position], body.kernel.array_ids().nth(position));
        let role = match array.role {
            Role::Input => INPUT,
            Role::Output => OUTPUT,
            Role::State => STATE,
            // Ours as well, and so is what a later version may add: no call reads or writes it.
            _ => TEMP,
        };
        let levels = id.map_or(0, |id| body.kernel.state_depth(id));
        let (element, rank) = (element_number(array.element), rank(&body.kernel, position));
        info.put(ArrayInfo { name: Told::string(name), role, element, rank, levels });
        Ok(())
    }

    fn crease_kernel_scalar(
        kernel: Handle<KernelBody>,
        position: usize,
        name: Out<Told<c_char>>,
        element: Out<i32>,
    ) {
        let body = kernel.get("kernel")?;
        name.put(Told::string(body.item("scalar", &body.scalars, position)?));
        element.put(element_number(body.kernel.scalars()[position].element));
        Ok(())
    }

    fn crease_kernel_param(
        kernel: Handle<KernelBody>,
        position: usize,
        name: Out<Told<c_char>>,
        kind: Out<i32>,
    ) {
        let body = kernel.get("kernel")?;
        name.put(Told::string(body.item("parameter", &body.params, position)?));
        kind.put(if body.kernel.params()[position].kind == ParamKind::Size { SIZE } else { STEPS });
        Ok(())
    }

    fn crease_kernel_schedule(kernel: Handle<KernelBody>, position: usize, name: Out<Told<c_char>>) {
        let body = kernel.get("kernel")?;
        name.put(Told::string(body.item("schedule", &body.schedules, position)?));
        Ok(())
    }
}
