//! A case and its file.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::sequence::Sequence;

/// Files, variables and overrides, and what comes of them on both sides.
#[derive(Debug, Clone, Default)]
pub struct Case {
    /// Its name, which is that of its file.
    pub name: String,
    /// The file up to what is recorded.
    head: String,
    /// Files by their paths.
    pub files: Vec<(String, Vec<u8>)>,
    /// Variables.
    pub env: Vec<(String, String)>,
    /// Overrides.
    pub overrides: Vec<(String, String)>,
    /// The differences that it is kept to show.
    pub shows: Vec<String>,
    /// What client-go does.
    pub client_go: Vec<String>,
    /// What ours does, where that differs.
    pub ours: Option<Vec<String>>,
    /// The sentence that ours refuses it with.
    pub says: Option<String>,
}

/// What a section of the file holds.
enum Section {
    About,
    File(String, String),
    ClientGo,
    Ours,
    Says,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// When a line cannot stand where it does, or names a file that is not there.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let mut case = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        let mut section = Section::About;
        let mut body: Vec<&str> = Vec::new();
        for line in text.lines() {
            let Some(directive) = line.strip_prefix('@') else {
                body.push(line);
                continue;
            };
            case.end(section, &body)?;
            body.clear();
            section = case.begin(directive)?;
        }
        case.end(section, &body)?;
        let recorded = text.find("\n@client-go").map_or(text.len(), |at| at + 1);
        case.head = text[..recorded].to_owned();
        Ok(case)
    }

    fn begin(&mut self, directive: &str) -> Result<Section, String> {
        let (word, rest) = directive.split_once(' ').unwrap_or((directive, ""));
        let pair = || {
            let (name, value) = rest
                .split_once('=')
                .ok_or_else(|| format!("{rest:?} is no NAME=VALUE"))?;
            Ok::<_, String>((name.to_owned(), value.to_owned()))
        };
        match word {
            "env" => self.env.push(pair()?),
            "override" => self.overrides.push(pair()?),
            "shows" => self.shows.push(rest.to_owned()),
            "pem" => {
                let (path, name) = rest
                    .split_once(' ')
                    .ok_or_else(|| format!("{rest:?} is no PATH NAME"))?;
                self.files.push((path.to_owned(), pem(name)?));
            }
            "file" => {
                let (path, how) = rest.split_once(' ').unwrap_or((rest, ""));
                return Ok(Section::File(path.to_owned(), how.to_owned()));
            }
            "client-go" => return Ok(Section::ClientGo),
            "ours" => return Ok(Section::Ours),
            "says" => return Ok(Section::Says),
            other => return Err(format!("there is no @{other}")),
        }
        Ok(Section::About)
    }

    fn end(&mut self, section: Section, body: &[&str]) -> Result<(), String> {
        let lines = || body.iter().map(ToString::to_string).collect();
        match section {
            Section::About => {
                if let Some(line) = body
                    .iter()
                    .find(|line| !line.is_empty() && !line.starts_with('#'))
                {
                    return Err(format!("{line:?} belongs to no file"));
                }
            }
            Section::File(path, how) => {
                let text: String = body.iter().flat_map(|line| [*line, "\n"]).collect();
                self.files.push((path, encoded(&filled(&text)?, &how)?));
            }
            Section::ClientGo => self.client_go = lines(),
            Section::Ours => self.ours = Some(lines()),
            Section::Says => self.says = Some(body.join("\n")),
        }
        Ok(())
    }

    /// The file, with these answers.
    #[must_use]
    pub fn written(&self, client_go: &[String], ours: &[String], says: Option<&str>) -> String {
        let mut text = self.head.clone();
        let mut section = |name: &str, lines: &[String]| {
            let _ = writeln!(text, "@{name}");
            for line in lines {
                let _ = writeln!(text, "{line}");
            }
        };
        section("client-go", client_go);
        if ours != client_go {
            section("ours", ours);
        }
        if let Some(says) = says {
            section("says", &[says.to_owned()]);
        }
        text
    }

    /// What ours should do.
    #[must_use]
    pub fn expected(&self) -> &[String] {
        self.ours.as_deref().unwrap_or(&self.client_go)
    }

    /// The case in the words of the oracle.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        let files = self
            .files
            .iter()
            .map(|(path, content)| format!("file {path} {}", STANDARD.encode(content)));
        let env = self.env.iter().map(|(name, value)| format!("env {name}={value}"));
        let overrides = self
            .overrides
            .iter()
            .map(|(name, value)| format!("override {name}={value}"));
        let ops = files
            .chain(["env HOME=/case".to_owned()])
            .chain(env)
            .chain(overrides)
            .chain(["load".to_owned()]);
        Sequence {
            suite: "kubeconfig".to_owned(),
            ops: ops.collect(),
        }
    }
}

/// The folder of the cases.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kubeconfigs")
}

/// All cases with their files, by name.
///
/// # Errors
/// When one cannot be read; the error names it.
pub fn cases() -> io::Result<Vec<(PathBuf, Case)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder())? {
        files.extend(Some(entry?.path()).filter(|path| path.extension().is_some_and(|end| end == "txt")));
    }
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let case = Case::read(&name, &fs::read_to_string(&file)?)
                .map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
            Ok((file, case))
        })
        .collect()
}

fn pem(name: &str) -> Result<Vec<u8>, String> {
    let file = folder().join("pki").join(name);
    fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))
}

/// The text with base64 in place of the names in braces.
fn filled(text: &str) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        let (name, after) = behind
            .split_once("}}")
            .ok_or_else(|| "two braces that are not closed".to_owned())?;
        filled.push_str(before);
        filled.push_str(&STANDARD.encode(pem(name)?));
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn encoded(text: &str, how: &str) -> Result<Vec<u8>, String> {
    let utf16 = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
        let units = text.encode_utf16().flat_map(bytes);
        mark.into_iter().chain(units).collect()
    };
    match how {
        "" => Ok(text.into()),
        "bom" => Ok([b"\xEF\xBB\xBF", text.as_bytes()].concat()),
        "crlf" => Ok(text.replace('\n', "\r\n").into_bytes()),
        "utf16le" => Ok(utf16([0xFF, 0xFE], u16::to_le_bytes)),
        "utf16be" => Ok(utf16([0xFE, 0xFF], u16::to_be_bytes)),
        "utf16le-bare" => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        "latin1" => text
            .chars()
            .map(|letter| {
                u8::try_from(u32::from(letter)).map_err(|_| format!("{letter:?} is not in Latin-1"))
            })
            .collect(),
        other => Err(format!("a file cannot be written as {other:?}")),
    }
}
