//! Errors that were provoked, by variant, and how they read.

use std::any::type_name;
use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt::Debug;

use crease::storage::MappingError;
use crease::{Error, LowerError, RunError};

/// By variant: what was done, and the message.
#[derive(Default)]
pub(crate) struct Cases {
    messages: BTreeMap<String, Vec<(String, String)>>,
    codes: BTreeMap<String, &'static str>,
}

impl Cases {
    /// What a call answers; returns its key.
    pub(crate) fn add<E: StdError + Debug>(&mut self, done: &str, error: E) -> String {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            // Most messages hold that of their cause.
            let text = error.to_string();
            if !message.contains(&text) {
                message.push_str(&format!("\n  because: {text}"));
            }
            cause = error.source();
        }
        let key = key_of(&error);
        self.messages.entry(key.clone()).or_default().push((done.to_string(), message));
        key
    }

    /// An error that no call of a test can provoke, because of what is said in `why`.
    pub(crate) fn add_made_up<E: StdError + Debug>(&mut self, why: &str, error: E) {
        self.add(&format!("made up: {why}"), error);
    }

    /// What the engine answers, under the stage that it comes from.
    pub(crate) fn add_engine<R>(&mut self, done: &str, result: Result<R, Error>) {
        let error = result.err().unwrap_or_else(|| panic!("{done}: no error"));
        let code = error.code();
        let key = self.add_unwrapped(done, error);
        self.codes.insert(key, code);
    }

    fn add_unwrapped(&mut self, done: &str, error: Error) -> String {
        match error {
            Error::Kernel(error) => self.add(done, error.kind().clone()),
            Error::Illegal(error) => self.add(done, error),
            Error::Plan(error) => self.add(done, error),
            Error::Analysis(error) | Error::Mapping(MappingError::Analysis(error)) => self.add(done, error),
            Error::Lower(LowerError::Analysis(error)) => self.add(done, error),
            Error::Mapping(error) => self.add(done, error),
            Error::Lower(error) => self.add(done, error),
            Error::Compile(error) => self.add(done, error),
            Error::Run(RunError::Threads(error)) => self.add(done, error),
            Error::Run(RunError::Call(error)) => self.add(done, error),
            Error::Run(error) => self.add(done, error),
            other => panic!("{done}: an error of a stage that is not known here: {other:?}"),
        }
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = String> {
        self.messages.keys().cloned()
    }

    /// The code that [`Error::code`] gave for errors of the engine, by key.
    pub(crate) fn codes(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.codes.iter().map(|(key, code)| (key.as_str(), *code))
    }

    /// The text of each file.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&String, String)> {
        let case = |(done, message): &(String, String)| format!("; {done}\n{message}\n");
        self.messages.iter().map(move |(key, cases)| (key, cases.iter().map(case).collect::<Vec<_>>().join("\n")))
    }
}

/// `CRATE/ENUM.VARIANT`.
pub(crate) fn key_of<E: Debug>(error: &E) -> String {
    let path = type_name::<E>();
    let (crate_name, rest) = path.split_once("::").expect("a path starts with its crate");
    let variant: String = format!("{error:?}").chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
    format!("{crate_name}/{}.{variant}", rest.rsplit("::").next().expect("a path ends with a name"))
}
