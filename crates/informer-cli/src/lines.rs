//! Events as lines, for pipes.

use informer::contracts::{Change, ObjectKey, Resource};

use crate::{args::Output, row::Row};

/// How an event becomes a line.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    output: Output,
    resource: Resource,
}

impl Lines {
    pub(crate) fn new(output: Output, resource: Resource) -> Self {
        Self { output, resource }
    }

    /// The line of a change; none for the cached state told again.
    pub(crate) fn line(&self, change: &Change<ObjectKey, Row>) -> Option<String> {
        let event = match change {
            Change::Added { .. } => "ADDED",
            Change::Updated { .. } => "MODIFIED",
            Change::Removed { .. } => "DELETED",
            Change::Resynced { .. } => return None,
        };
        let row = &change.entry().object;
        Some(match self.output {
            Output::Name => format!("{}/{}", self.name(), change.key().name()),
            Output::Json => {
                format!(
                    r#"{{"type":"{event}","object":{}}}"#,
                    row.json.as_deref().unwrap_or("null")
                )
            }
            Output::Table | Output::Wide => self.cells(event, change.key(), row),
        })
    }

    /// Event and key, then the cells as they were written, without the name, which the key has.
    fn cells(&self, event: &str, key: &ObjectKey, row: &Row) -> String {
        let mut cells = vec![format!("{event:<8}"), key.to_string()];
        for (at, column) in row.columns.iter().enumerate() {
            if !column.is_name() && (self.output == Output::Wide || !column.is_wide()) {
                cells.push(row.written(at).to_owned());
            }
        }
        cells.join("   ")
    }

    /// The kind as kubectl prints it before a name: `pod`, `deployment.apps`.
    fn name(&self) -> String {
        let kind = self.resource.kind.to_lowercase();
        if self.resource.group.is_empty() {
            kind
        } else {
            format!("{kind}.{}", self.resource.group)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use informer::contracts::{Entry, Stamp};
    use informer::transport::Codec;

    use super::*;
    use crate::row::RowCodec;

    fn entry(resource: &Resource) -> Entry<ObjectKey, Row> {
        let item = br#"{"metadata":{"name":"a","namespace":"n"},"spec":{"replicas":2}}"#;
        let decoded = RowCodec::new(resource, true)
            .decode(Bytes::from_static(item))
            .unwrap();
        Entry::new(
            ObjectKey::namespaced("n", "a"),
            Stamp::default(),
            Arc::new(decoded.object),
        )
    }

    #[test]
    fn every_form_is_one_line() {
        let resource = Resource::namespaced("apps", "v1", "deployments", "Deployment");
        let line =
            |output, change: &Change<ObjectKey, Row>| Lines::new(output, resource.clone()).line(change);

        let added = Change::Added {
            new: entry(&resource),
            initial: true,
        };
        assert_eq!(
            line(Output::Table, &added).unwrap(),
            "ADDED      n/a   0/2   0   0   <unknown>"
        );
        assert_eq!(line(Output::Name, &added).unwrap(), "deployment.apps/a");

        let removed = Change::Removed {
            last: entry(&resource),
            observed: true,
        };
        let json = line(Output::Json, &removed).unwrap();
        assert!(
            json.starts_with(r#"{"type":"DELETED","object":{"apiVersion":"apps/v1","kind":"Deployment","#),
            "{json}"
        );
        assert!(!json.contains('\n'));

        let resynced = Change::Resynced {
            current: entry(&resource),
        };
        assert_eq!(line(Output::Table, &resynced), None);
    }
}
