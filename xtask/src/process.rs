//! Running other programs: said on standard error before, a sentence when they fail.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Result;

/// What makes a library compile alone that leaves the version of Kubernetes to the program: there is no program then.
pub(crate) const KUBERNETES: (&str, &str) = ("K8S_OPENAPI_ENABLED_VERSION", "1.37");

/// The cargo that runs us, in the workspace's root.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(arguments);
    command
}

/// Runs with our own standard output and error.
pub(crate) fn run(command: &mut Command) -> Result {
    let shown = show(command);
    eprintln!("$ {shown}");
    let status = command
        .status()
        .map_err(|error| format!("`{shown}` does not start: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{shown}` failed: {status}").into())
    }
}

/// Runs silently and returns standard output; standard error is shown only on failure.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`{shown}` does not start: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{shown}` failed: {}\n{}", output.status, said.trim_end()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs with standard output and error merged, in order, hands every line to `on_line` and shows it.
/// Returns whether the program succeeded.
pub(crate) fn tee(command: &mut Command, mut on_line: impl FnMut(&str)) -> Result<bool> {
    let shown = show(command);
    eprintln!("$ {shown}");
    let (reader, writer) = std::io::pipe()?;
    let mut child = command
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()
        .map_err(|error| format!("`{shown}` does not start: {error}"))?;
    // The command holds our copies of the writing end: without them gone the pipe has no end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        println!("{text}");
        on_line(text);
        line.clear();
    }
    Ok(child.wait()?.success())
}

/// The command as a person would type it.
fn show(command: &Command) -> String {
    let program = command.get_program();
    let name = Path::new(program).file_name().unwrap_or(program);
    let mut shown = name.to_string_lossy().into_owned();
    for argument in command.get_args() {
        shown.push(' ');
        shown.push_str(&argument.to_string_lossy());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tee_hands_over_both_streams_in_order() {
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; echo three; exit 3"]);
        let ok = tee(&mut command, |line| lines.push(line.to_owned())).unwrap();
        assert!(!ok);
        assert_eq!(lines, ["one", "two", "three"]);
    }

    #[test]
    fn a_failure_tells_the_command_and_what_it_said() {
        let error = capture(Command::new("sh").args(["-c", "echo why >&2; exit 1"]))
            .unwrap_err()
            .to_string();
        assert!(error.contains("sh -c") && error.contains("why"), "{error}");
    }
}
