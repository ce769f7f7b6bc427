//! Text traces of a machine: scripts with what is expected below each of their inputs, in `tests/it/traces` of a crate.

/// A test for each script of the crate that uses it, and one that no script is left out: `traces! { script::run => name name … }`. See
/// [`check_trace`].
#[macro_export]
macro_rules! traces {
    ($run:path => $($name:ident)*) => {
        $(#[test] fn $name() { $crate::check_trace(env!("CARGO_MANIFEST_DIR"), stringify!($name), $run); })*

        /// A script that no test runs would rot.
        #[test]
        fn every_script_is_run() {
            let mut run = vec![$(stringify!($name)),*];
            run.sort_unstable();
            assert_eq!($crate::trace_names(env!("CARGO_MANIFEST_DIR")), run);
        }
    };
}

use std::{env, fs, path::Path};

/// Lets `run` play the script `tests/it/traces/NAME.txt` below the crate's folder (`env!("CARGO_MANIFEST_DIR")`): it returns the script with
/// what the machine does. With `UPDATE_TRACES=1` that is written down; read the difference before you keep it.
///
/// # Panics
/// When the machine does something else than the script says, with the first line that differs; and when the script cannot be read.
pub fn check_trace(crate_folder: &str, name: &str, run: impl Fn(&str) -> String) {
    let path = Path::new(crate_folder)
        .join("tests/it/traces")
        .join(name)
        .with_extension("txt");
    let wanted = fs::read_to_string(&path).expect("a script");
    let got = run(&wanted);
    if got != wanted && env::var_os("UPDATE_TRACES").is_some() {
        fs::write(&path, &got).expect("a script that can be written");
        return;
    }
    for (number, (got, wanted)) in got.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(got, wanted, "{name}, line {}:\n{got}", number + 1);
    }
    assert_eq!(got, wanted, "{name}");
}

/// The names of all scripts of a crate, sorted: one that no test runs would rot.
///
/// # Panics
/// When there is no folder of scripts.
#[must_use]
pub fn trace_names(crate_folder: &str) -> Vec<String> {
    let folder = Path::new(crate_folder).join("tests/it/traces");
    let files = fs::read_dir(folder).expect("a folder of scripts");
    let mut names: Vec<String> = files
        .map(|file| {
            let path = file.expect("a script").path();
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}
