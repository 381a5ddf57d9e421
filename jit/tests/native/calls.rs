//! Calls: those that do not fit the program, on slices and fields, by several threads at once; what compiling keeps.

use super::harness::verified;
use crease_jit::*;
use crease_program::{Element, Fault, Program, Verified};

const COPY: &str = "program copy(n) {
  buffer from: f64[8] read
  buffer to: f64[8] write
  strip v0 in 0 .. $n lanes 4 {
    m0 = from[pos 0, stride 1]
    m1 = to[pos 0, stride 1]
    %0 = load m0: f64
    %1: store m1, %0
  }
}";

fn copy() -> Compiled {
    compile(&verified(&Program::parse(COPY).unwrap()), &CompileOptions::default()).unwrap()
}

/// Every way in which a call may not fit the program, with its message.
#[test]
fn calls_that_do_not_fit_are_refused() {
    fn refusal(code: &Compiled, args: &[i64], buffers: Vec<BufferRef<'_>>) -> CallError {
        code.run(&mut Call { args, scalars: &[], buffers, pool: &Pool::sequential() }).unwrap_err()
    }
    let code = copy();
    let (from, mut to) = ([1.0f64; 8], [0.0f64; 8]);
    let (short, single) = ([0.0f64; 7], [0.0f32; 8]);
    let message = refusal(&code, &[], vec![BufferRef::read(&from), BufferRef::write(&mut to)]).to_string();
    assert_eq!(message, "`copy` takes 1 arguments, not 0");
    let message = refusal(&code, &[8], vec![BufferRef::read(&from)]).to_string();
    assert_eq!(message, "`copy` takes 2 buffers, not 1");
    let message = refusal(&code, &[8], vec![BufferRef::read(&single), BufferRef::write(&mut to)]).to_string();
    assert_eq!(message, "buffer `from` holds f64, not f32");
    let message = refusal(&code, &[8], vec![BufferRef::read(&short), BufferRef::write(&mut to)]).to_string();
    assert_eq!(message, "buffer `from` needs 8 cells and was given 7");
    let message = refusal(&code, &[8], vec![BufferRef::read(&from), BufferRef::read(&from)]).to_string();
    assert_eq!(message, "buffer `to` is written and was bound read-only");
    let error = refusal(&code, &[9], vec![BufferRef::read(&from), BufferRef::write(&mut to)]);
    assert!(matches!(error, CallError::Bounds(_)), "{error}");
    assert_eq!(to, [0.0; 8], "nothing was written");
}

/// A buffer with copies needs one for each thread of the pool, whatever the loops.
#[test]
fn a_copy_per_thread_is_needed() {
    let text = "program p() {
      buffer tile: f64[3] write per_worker 10
      strip v0 in 0 .. 3 lanes 1 { m0 = tile[pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 }
    }";
    let code = compile(&verified(&Program::parse(text).unwrap()), &CompileOptions::default()).unwrap();
    for (threads, needed) in [(1, 3), (2, 13), (5, 43)] {
        let pool = Pool::new(threads).unwrap();
        let mut cells = vec![0.0f64; needed];
        let run = |cells: &mut [f64]| {
            code.run(&mut Call { args: &[], scalars: &[], buffers: vec![BufferRef::write(cells)], pool: &pool })
        };
        run(&mut cells).unwrap();
        let message = run(&mut cells[1..]).unwrap_err().to_string();
        assert_eq!(message, format!("buffer `tile` needs {needed} cells and was given {}", needed - 1));
    }
}

#[test]
fn a_call_runs_on_borrowed_slices_and_on_fields() {
    let (code, pool) = (copy(), Pool::sequential());
    let from: Vec<f64> = (0..8).map(f64::from).collect();
    let mut to = Field::new(Element::F64, 8, FieldOptions::default()).unwrap();
    let buffers = vec![BufferRef::read(&from), BufferRef::from(&mut to)];
    code.run(&mut Call { args: &[5], scalars: &[], buffers, pool: &pool }).unwrap();
    assert_eq!(to.as_slice::<f64>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0]);
}

/// Compiled code may be shared by threads, each with buffers of its own.
#[test]
fn compiled_code_is_shared_by_threads() {
    let code = copy();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let code = &code;
            scope.spawn(move || {
                let (from, mut to) = ([f64::from(thread); 8], [0.0; 8]);
                let buffers = vec![BufferRef::read(&from), BufferRef::write(&mut to)];
                code.run(&mut Call { args: &[8], scalars: &[], buffers, pool: &Pool::sequential() }).unwrap();
                assert_eq!(from, to);
            });
        }
    });
}

#[test]
fn texts_are_kept_only_when_asked_for() {
    let program = Program::parse(COPY).unwrap();
    let code = compile(&verified(&program), &CompileOptions::default().texts(true)).unwrap();
    assert!(code.clif_text().contains("function") && code.disassembly().contains("block"));
    assert!(code.code_bytes() > 0 && code.times().total() > std::time::Duration::ZERO);
    assert_eq!(copy().clif_text(), "");
}

#[test]
fn an_invalid_program_is_not_compiled() {
    let mut program = Program::parse(COPY).unwrap();
    program.buffers.pop();
    // Nothing else than a verified program is taken.
    let error = Verified::new(program).unwrap_err();
    assert!(matches!(error.fault, Fault::NoSuchId { .. }), "{error}");
}
