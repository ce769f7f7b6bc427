//! `informer watch`: an informer, and somebody who looks.

use std::io::IsTerminal as _;

use informer::contracts::{ListerWatcher, ObjectKey, Resource, Scope};
use informer::sharedinformer::{BacklogPolicy, HandlerOptions, Running, SharedInformer, Trouble};
use informer::transport::Selectors;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::{
    args::{Output, Watch},
    connect::Target,
    failure::Failure,
    lines::Lines,
    live::{self, Live, Shown},
    pipe,
    row::{Informer, Row, RowCodec},
    source::Rows,
    summary::{Summary, peak_kib},
    troubles::Troubles,
};

/// Watches until the time is over, the user ends it, or it cannot go on.
pub(crate) async fn run(args: Watch) -> Result<Summary, Failure> {
    let target = Target::find(&args).await?;
    let resource = resource(&target, &args.resource).await?;
    let namespace = namespace(&target, &args, &resource);
    let Watched {
        informer,
        troubles,
        columns,
    } = watched(&target, &args, &resource, namespace.as_deref())?;
    let mut troubles = Troubles {
        informer: informer.clone(),
        receiver: troubles,
        place: target.place.clone(),
        selectors: selectors(&args),
    };

    let is_live = args.output.is_table() && std::io::stdout().is_terminal();
    let running = if is_live {
        let wide = args.output == Output::Wide;
        let mut live = Live::new(&informer, &resource, namespace.as_deref(), columns, wide)?;
        let running = spawn(&informer)?;
        live::show(&mut live, &mut troubles, args.period)
            .await
            .map(|()| running)
    } else {
        let options = HandlerOptions::named("output").backlog(BacklogPolicy::Block { limit: pipe::LIMIT });
        let changes = informer
            .subscribe(options)
            .map_err(|error| Failure::new(error.to_string()))?;
        let running = spawn(&informer)?;
        pipe::print(
            changes,
            &Lines::new(args.output, resource),
            &mut troubles,
            args.period,
        )
        .await
        .map(|()| running)
    }?;
    let summary = summary(&informer);
    running.stop().await;
    target.close().await;
    Ok(summary)
}

/// What to add to a sentence about a request that was refused.
fn selectors(args: &Watch) -> String {
    let labels = args.selector.iter().map(|it| format!("-l {it:?}"));
    let fields = args
        .field_selector
        .iter()
        .map(|it| format!("--field-selector {it:?}"));
    let given: Vec<String> = labels.chain(fields).collect();
    if given.is_empty() {
        String::new()
    } else {
        format!(" ({})", given.join(", "))
    }
}

fn spawn(informer: &Informer) -> Result<Running<ObjectKey, Row>, Failure> {
    informer.spawn().map_err(|error| Failure::new(error.to_string()))
}

async fn resource(target: &Target, name: &str) -> Result<Resource, Failure> {
    let found = target
        .client
        .resolve(name)
        .await
        .map_err(|error| Failure::at(&target.place, &error))?;
    if found.has_verb("watch") && found.has_verb("list") {
        Ok(found.resource)
    } else {
        Err(Failure::new(format!(
            "{}: {} cannot be watched",
            target.place, found.resource
        )))
    }
}

/// The namespace that is watched; `None` is all of them.
fn namespace(target: &Target, args: &Watch, resource: &Resource) -> Option<String> {
    if args.all_namespaces || resource.scope == Scope::Cluster {
        return None;
    }
    Some(args.namespace.clone().unwrap_or_else(|| target.namespace.clone()))
}

/// What is watched.
struct Watched {
    informer: Informer,
    troubles: UnboundedReceiver<Trouble>,
    columns: Shown,
}

/// An informer of the server's tables where columns are shown, of objects where those are printed.
fn watched(
    target: &Target,
    args: &Watch,
    resource: &Resource,
    namespace: Option<&str>,
) -> Result<Watched, Failure> {
    let codec = RowCodec::new(resource, args.output == Output::Json);
    let ours = codec.columns();
    let mut api = target.client.with_codec::<Row, _>(resource.clone(), codec);
    if let Some(namespace) = namespace {
        api = api.in_namespace(namespace);
    }
    let mut selectors = Selectors::all();
    if let Some(labels) = &args.selector {
        selectors = selectors.labels(labels);
    }
    if let Some(fields) = &args.field_selector {
        selectors = selectors.fields(fields);
    }
    let tables = api.tables().source(selectors.clone());
    let (informer, troubles) = if args.output.is_table() {
        informer(Rows(tables.clone()), resource)?
    } else {
        informer(api.source(selectors), resource)?
    };
    let columns = move || match tables.columns() {
        none if none.is_empty() => ours.clone(),
        named => named,
    };
    Ok(Watched {
        informer,
        troubles,
        columns: Box::new(columns),
    })
}

fn informer<L>(source: L, resource: &Resource) -> Result<(Informer, UnboundedReceiver<Trouble>), Failure>
where
    L: ListerWatcher<Object = Row> + 'static,
{
    let (tell, troubles) = unbounded_channel();
    let informer = SharedInformer::builder(source)
        .name(resource.to_string())
        .on_error(move |trouble| {
            // Nobody listens once the program ends.
            let _ = tell.send(trouble.clone());
        })
        .build()
        .map_err(|error| Failure::new(error.to_string()))?;
    Ok((informer, troubles))
}

fn summary(informer: &Informer) -> Summary {
    let status = informer.status();
    let reflector = status.source.reflector.as_ref();
    Summary {
        n_objects: status.objects,
        n_events: status
            .handlers
            .iter()
            .map(|handler| handler.delivered)
            .max()
            .unwrap_or_default(),
        n_lists: reflector.map_or(0, |it| it.lists),
        n_watches: reflector.map_or(0, |it| it.watches),
        n_relists: reflector.map_or(0, |it| it.relists),
        peak_kib: peak_kib(),
    }
}
