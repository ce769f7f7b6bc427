//! What a client accepts: JSON whole, metadata only, or aggregated discovery.

use http::{HeaderMap, header::ACCEPT};

use crate::api::{ApiError, Form, Include, Style};

/// One alternative of an `Accept` header.
struct Media<'a> {
    kind: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Media<'a> {
    fn parse(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let kind = parts.next().unwrap_or("");
        let parameters = parts
            .filter_map(|it| it.split_once('='))
            .map(|(name, value)| (name.trim(), value.trim()))
            .collect();
        Self { kind, parameters }
    }

    fn param(&self, name: &str) -> &'a str {
        let mut parameters = self.parameters.iter();
        parameters
            .find(|(it, _)| *it == name)
            .map_or("", |(_, value)| value)
    }

    fn is_json(&self) -> bool {
        matches!(self.kind, "" | "*/*" | "application/*" | "application/json")
    }
}

fn alternatives(headers: &HeaderMap) -> Vec<Media<'_>> {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(Media::parse)
        .collect()
}

/// In which form to answer: the first alternative that can be served. Everything is served as JSON; a client that accepts only protobuf
/// gets JSON, whose content type says so.
///
/// `list` says whether a list is asked for: metadata of lists and of objects are told apart by name, as by the server.
pub(super) fn form(headers: &HeaderMap, list: bool) -> Result<Form, ApiError> {
    let alternatives = alternatives(headers);
    if alternatives.is_empty() {
        return Ok(Form::Whole);
    }
    let metadata = if list {
        "PartialObjectMetadataList"
    } else {
        "PartialObjectMetadata"
    };
    let protobuf_only = alternatives.iter().all(|media| !media.is_json());
    for media in &alternatives {
        let readable =
            media.is_json() || (protobuf_only && media.kind == "application/vnd.kubernetes.protobuf");
        match media.param("as") {
            _ if !readable => {}
            "" => return Ok(Form::Whole),
            kind if kind == metadata && media.param("g") == "meta.k8s.io" => return Ok(Form::Metadata),
            "Table" if media.param("g") == "meta.k8s.io" && media.param("v") == "v1" => {
                return Ok(Form::Table(Style {
                    include: Include::default(),
                    now: 0,
                    heads: true,
                }));
            }
            _ => {}
        }
    }
    if alternatives.iter().all(|media| !media.is_json()) {
        let message = "406: Not Acceptable\n\nAvailable representations: application/json";
        return Err(ApiError::not_acceptable(message).with_details());
    }
    Err(ApiError::not_acceptable(
        "only the following media types are accepted: application/json, application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, \
         application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    ))
}

/// Whether aggregated discovery is asked for before the old form.
pub(super) fn aggregated(headers: &HeaderMap) -> bool {
    let alternatives = alternatives(headers);
    let mut readable = alternatives
        .iter()
        .filter(|media| media.is_json() && (media.param("as").is_empty() || media.param("v") == "v2"));
    readable.next().is_some_and(|media| {
        media.param("as") == "APIGroupDiscoveryList" && media.param("g") == "apidiscovery.k8s.io"
    })
}

/// The content type of an aggregated discovery document.
pub(super) const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
