//! Strategic merge patch (apimachinery `pkg/util/strategicpatch`): a merge patch in which lists with a merge key are merged by it.
//!
//! It knows `$patch` (`replace`, `delete`, `merge`), `$retainKeys`, `$deleteFromPrimitiveList/…` and `$setElementOrder/…`.

use serde_json::{Map, Value};

use super::{
    ApiError,
    schema::{Merge, Node, Place},
};

const DIRECTIVE: &str = "$patch";

/// Merges a patch into an object.
pub(super) fn merge(object: &mut Value, patch: &Map<String, Value>, root: Node<'_>) -> Result<(), ApiError> {
    merge_map(object, patch, &|field| root.top(field))
}

fn directive(patch: &Map<String, Value>) -> &str {
    patch.get(DIRECTIVE).and_then(Value::as_str).unwrap_or("")
}

fn merge_map<'a>(
    object: &mut Value,
    patch: &Map<String, Value>,
    place: &dyn Fn(&str) -> Place<'a>,
) -> Result<(), ApiError> {
    match directive(patch) {
        "replace" => {
            *object = Value::Object(without_directives(patch));
            return Ok(());
        }
        "delete" => {
            *object = Value::Object(Map::new());
            return Ok(());
        }
        "" | "merge" => {}
        other => return Err(ApiError::new(500, "", format!("unknown patch type: {other}"))),
    }
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let Some(fields) = object.as_object_mut() else {
        return Ok(());
    };
    if let Some(Value::Array(retained)) = patch.get("$retainKeys") {
        fields.retain(|field, _| retained.iter().any(|it| it == field.as_str()));
    }
    for (field, values) in directives(patch, "$deleteFromPrimitiveList/") {
        if let Some(Value::Array(items)) = fields.get_mut(field) {
            items.retain(|item| !values.contains(item));
        }
    }
    let orders: Map<String, Value> = directives(patch, "$setElementOrder/")
        .map(|(field, order)| (field.to_owned(), Value::Array(order.clone())))
        .collect();
    for (field, order) in &orders {
        if !patch.contains_key(field)
            && let (Some(Value::Array(items)), Value::Array(order)) = (fields.get_mut(field), order)
        {
            let before = items.clone();
            reorder(items, &before, order, place(field).merge);
        }
    }
    for (field, value) in patch.iter().filter(|(field, _)| !field.starts_with('$')) {
        let order = orders.get(field).and_then(Value::as_array);
        merge_field(fields, field, value, place(field), order)?;
    }
    Ok(())
}

/// The lists of directives of this kind, by the field that they are about.
fn directives<'a>(
    patch: &'a Map<String, Value>,
    prefix: &'static str,
) -> impl Iterator<Item = (&'a str, &'a Vec<Value>)> {
    patch
        .iter()
        .filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_array()?)))
}

fn merge_field(
    fields: &mut Map<String, Value>,
    field: &str,
    patch: &Value,
    place: Place<'_>,
    order: Option<&Vec<Value>>,
) -> Result<(), ApiError> {
    match patch {
        Value::Null => drop(fields.remove(field)),
        Value::Object(patch) if directive(patch) == "delete" => drop(fields.remove(field)),
        Value::Object(patch) => {
            let value = fields.entry(field).or_insert_with(|| Value::Object(Map::new()));
            merge_map(value, patch, &|inner| place.node.field(inner))?;
        }
        Value::Array(patch) if place.merge != Merge::Replace => {
            let mut items = match fields.remove(field) {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            };
            let before = items.clone();
            match place.merge {
                Merge::By(key) => merge_items(&mut items, patch, key, place.node)?,
                _ => {
                    for value in patch {
                        if !items.contains(value) {
                            items.push(value.clone());
                        }
                    }
                }
            }
            reorder(&mut items, &before, order.unwrap_or(patch), place.merge);
            fields.insert(field.to_owned(), Value::Array(items));
        }
        other => drop(fields.insert(field.to_owned(), other.clone())),
    }
    Ok(())
}

fn merge_items(items: &mut Vec<Value>, patch: &[Value], key: &str, node: Node<'_>) -> Result<(), ApiError> {
    let is = |item: &Value, what: &str| item.get(DIRECTIVE).and_then(Value::as_str) == Some(what);
    if patch.iter().any(|item| is(item, "replace")) {
        let others = patch.iter().filter(|item| !is(item, "replace"));
        *items = others.cloned().collect();
        return Ok(());
    }
    for item in patch {
        let (Value::Object(fields), Some(value)) = (item, item.get(key)) else {
            let message = format!("map: {item} does not contain declared merge key: {key}");
            return Err(ApiError::new(500, "", message));
        };
        if is(item, "delete") {
            items.retain(|it| it.get(key) != Some(value));
            continue;
        }
        match items.iter_mut().find(|it| it.get(key) == Some(value)) {
            Some(found) => merge_map(found, fields, &|inner| node.field(inner))?,
            None => items.push(Value::Object(without_directives(fields))),
        }
    }
    Ok(())
}

/// What a patch is where there is nothing to merge it with.
fn without_directives(patch: &Map<String, Value>) -> Map<String, Value> {
    let fields = patch
        .iter()
        .filter(|(field, value)| !field.starts_with('$') && !value.is_null());
    fields
        .map(|(field, value)| (field.clone(), without_directives_below(value)))
        .collect()
}

fn without_directives_below(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(without_directives(fields)),
        Value::Array(items) => items.iter().map(without_directives_below).collect(),
        other => other.clone(),
    }
}

/// Brings items into an order. Those that are not in it keep their place, relative to the others' places before; what is new comes before
/// those (apimachinery `strategicpatch.normalizeElementOrder`).
fn reorder(items: &mut Vec<Value>, before: &[Value], order: &[Value], merge: Merge) {
    let id = |item: &Value| match merge {
        Merge::By(key) => item.get(key).cloned(),
        _ => Some(item.clone()),
    };
    let place = |ids: &[Option<Value>], item: &Value| ids.iter().position(|it| *it == id(item));
    let wanted: Vec<Option<Value>> = order.iter().map(id).collect();
    let before: Vec<Option<Value>> = before.iter().map(id).collect();
    let (mut listed, others): (Vec<Value>, Vec<Value>) = std::mem::take(items)
        .into_iter()
        .partition(|item| place(&wanted, item).is_some());
    listed.sort_by_key(|item| place(&wanted, item));
    let mut listed = listed.into_iter().peekable();
    let mut others = others.into_iter().peekable();
    loop {
        let other_first = match (listed.peek(), others.peek()) {
            (None, None) => return,
            // `None`, for what was not there, is before everything.
            (Some(item), Some(other)) => place(&before, other) < place(&before, item),
            (None, Some(_)) => true,
            (Some(_), None) => false,
        };
        let next = if other_first { others.next() } else { listed.next() };
        items.extend(next);
    }
}
