//! Key and index functions that are not ours.

use informer_core::{Identity, IndexError, IndexFunc, KeyError, KeyFunc};

/// An object that has a number.
#[derive(Debug, Clone)]
pub struct Numbered {
    /// Its number; zero is none.
    pub number: u32,
}

/// Keys that are numbers, read from the object.
#[derive(Debug, Clone, Copy)]
pub struct ByNumber;

impl KeyFunc<Numbered> for ByNumber {
    type Key = u32;

    fn key(&self, identity: &Identity, object: &Numbered) -> Result<u32, KeyError> {
        match object.number {
            0 => Err(KeyError::new(format!("{identity} has no number"))),
            number => Ok(number),
        }
    }
}

/// Name first, then namespace, read from the identity alone.
#[derive(Debug, Clone, Copy)]
pub struct SecondPart;

impl<K: ?Sized> KeyFunc<K> for SecondPart {
    type Key = (String, Option<String>);

    fn key(&self, identity: &Identity, _: &K) -> Result<Self::Key, KeyError> {
        if identity.name.is_empty() {
            return Err(KeyError::new(format!("an object in {identity} has no name")));
        }
        Ok((
            identity.name.to_string(),
            identity.namespace.as_deref().map(str::to_owned),
        ))
    }

    fn key_of_identity(&self, identity: &Identity) -> Option<Self::Key> {
        self.key(identity, &()).ok()
    }
}

/// The first letters of the words of a text.
#[derive(Debug, Clone, Copy)]
pub struct Initial;

impl IndexFunc<str> for Initial {
    fn values(&self, text: &str, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        for word in text.split_whitespace() {
            if !word.is_char_boundary(1) {
                return Err(IndexError::new(format!(
                    "{word:?} has no letter that is sorted by"
                )));
            }
            emit(&word[..1]);
        }
        Ok(())
    }
}

impl IndexFunc<String> for Initial {
    fn values(&self, text: &String, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        self.values(text.as_str(), emit)
    }
}
