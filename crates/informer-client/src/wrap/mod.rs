//! Wrappers: a client around a client, which changes or refuses what goes through. Any number of them, in any order.

mod defaults;
mod intercept;
mod namespaced;

pub use self::{
    defaults::{DryRun, FieldOwner, FieldValidation, Validation},
    intercept::{Intercepted, Interceptor, ReadOf},
    namespaced::Namespaced,
};
