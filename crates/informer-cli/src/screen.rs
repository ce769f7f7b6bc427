//! The live table: what is drawn, as a function of what is known.

use std::{ops::ControlFlow, sync::Arc};

use informer::client::TableColumn;
use informer::contracts::{ObjectKey, Snapshot};
use jiff::Timestamp;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Modifier, Style},
    text::Line,
    widgets::{Cell, Paragraph, Row as TableRow, Table},
};

use crate::row::Row;

/// Lines beside the objects: the header of the table and the status line.
const N_OTHER_LINES: u16 = 2;
/// Room between two columns.
const GAP: u16 = 3;

/// What a key press asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Quit,
}

/// Where in the objects the screen is.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    first: usize,
}

/// What is drawn.
pub(crate) struct View<'a> {
    pub(crate) columns: &'a Arc<[TableColumn]>,
    /// Columns that need room are shown too.
    pub(crate) wide: bool,
    pub(crate) namespaced: bool,
    pub(crate) objects: &'a dyn Snapshot<ObjectKey, Row>,
    pub(crate) status: &'a str,
    pub(crate) now: Timestamp,
}

impl Screen {
    /// Moves by a key; `n_objects` are there and `height` lines of screen.
    pub(crate) fn on_key(&mut self, key: Key, n_objects: usize, height: u16) {
        let page = usize::from(height.saturating_sub(N_OTHER_LINES)).max(1);
        let last = n_objects.saturating_sub(page);
        let first = match key {
            Key::Up => self.first.saturating_sub(1),
            Key::Down => self.first + 1,
            Key::PageUp => self.first.saturating_sub(page),
            Key::PageDown => self.first + page,
            Key::Home => 0,
            Key::End => last,
            Key::Quit => self.first,
        };
        self.first = first.min(last);
    }

    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, view: &View<'_>) {
        let [table, status] =
            Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(frame.area());
        self.first = self.first.min(view.objects.len().saturating_sub(1));
        self.draw_table(frame, table, view);
        let line =
            Paragraph::new(Line::raw(view.status)).style(Style::new().add_modifier(Modifier::REVERSED));
        frame.render_widget(line, status);
    }

    fn draw_table(&self, frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
        let shown: Vec<usize> = (0..view.columns.len())
            .filter(|&at| view.wide || !view.columns[at].is_wide())
            .collect();
        let mut titles: Vec<String> = Vec::new();
        if view.namespaced {
            titles.push("NAMESPACE".to_owned());
        }
        titles.extend(shown.iter().map(|&at| view.columns[at].name.to_uppercase()));

        let rows = self.rows(view, &shown, usize::from(area.height.saturating_sub(1)));
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            let widest = cells.chain([titles[column].chars().count()]).max().unwrap_or(0);
            Constraint::Length(u16::try_from(widest).unwrap_or(u16::MAX))
        };
        let widths: Vec<Constraint> = (0..titles.len()).map(width).collect();
        let header = TableRow::new(titles).style(Style::new().add_modifier(Modifier::BOLD));
        let lines = rows
            .into_iter()
            .map(|row| TableRow::new(row.into_iter().map(Cell::from)));
        frame.render_widget(Table::new(lines, widths).header(header).column_spacing(GAP), area);
    }

    fn rows(&self, view: &View<'_>, shown: &[usize], n_lines: usize) -> Vec<Vec<String>> {
        let mut rows = Vec::with_capacity(n_lines);
        let mut at = 0;
        view.objects.scan(None, &mut |entry| {
            if at >= self.first {
                if rows.len() >= n_lines {
                    return ControlFlow::Break(());
                }
                let namespace = entry.key.namespace().unwrap_or_default().to_owned();
                let mut row: Vec<String> = view.namespaced.then_some(namespace).into_iter().collect();
                row.extend(shown.iter().map(|&at| cell(&entry.object, view, at)));
                rows.push(row);
            }
            at += 1;
            ControlFlow::Continue(())
        });
        rows
    }
}

/// The cell under a column that is shown. A row from before the server named other columns has it elsewhere, or not at all.
fn cell(row: &Row, view: &View<'_>, at: usize) -> String {
    let at = if Arc::ptr_eq(&row.columns, view.columns) {
        Some(at)
    } else {
        let name = &view.columns[at].name;
        row.columns.iter().position(|column| column.name == *name)
    };
    at.map_or_else(String::new, |at| row.cell(at, view.now).into_owned())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use informer::contracts::{
        Batch, Delta, Entry, Resource, ResourceVersion, Stamp, Store as _, StoreWriter as _,
    };
    use informer::store::{Indexers, indexed};
    use informer::transport::Codec as _;
    use ratatui::{Terminal, backend::TestBackend};

    use super::*;
    use crate::row::RowCodec;

    fn snapshot(n_objects: usize) -> Arc<dyn Snapshot<ObjectKey, Row>> {
        let resource = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
        let codec = RowCodec::new(&resource, false);
        let entry = |at: usize| {
            let item = format!(
                r#"{{"metadata":{{"name":"c-{at:02}","namespace":"n","creationTimestamp":"1970-01-01T00:00:00Z"}},"data":{{"a":""}}}}"#
            );
            let row = codec.decode(Bytes::from(item)).unwrap().object;
            Entry::new(
                ObjectKey::namespaced("n", &format!("c-{at:02}")),
                Stamp::default(),
                Arc::new(row),
            )
        };
        let (mut writer, reader) = indexed(Indexers::new()).unwrap();
        let replace = Delta::Replace {
            items: (0..n_objects).map(entry).collect(),
            unreadable: Vec::new(),
            at: ResourceVersion::new("1"),
            may_rewind: false,
        };
        writer
            .commit(&mut Batch::of(replace, true), &mut Vec::new())
            .unwrap();
        reader.snapshot()
    }

    fn lines(screen: &mut Screen, objects: &dyn Snapshot<ObjectKey, Row>) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(40, 5)).unwrap();
        let now = Timestamp::from_second(60).unwrap();
        let resource = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
        let view = View {
            columns: &RowCodec::new(&resource, false).columns(),
            wide: false,
            namespaced: true,
            objects,
            status: " all is well",
            now,
        };
        terminal.draw(|frame| screen.draw(frame, &view)).unwrap();
        let buffer = terminal.backend().buffer();
        let line = |y| {
            (0..40)
                .map(|x| buffer[(x, y)].symbol())
                .collect::<String>()
                .trim_end()
                .to_owned()
        };
        (0..5).map(line).collect()
    }

    #[test]
    fn table_has_a_header_rows_in_key_order_and_a_status_line() {
        let objects = snapshot(2);
        assert_eq!(
            lines(&mut Screen::default(), &*objects),
            [
                "NAMESPACE   NAME   DATA   AGE",
                "n           c-00   1      60s",
                "n           c-01   1      60s",
                "",
                " all is well"
            ]
        );
    }

    #[test]
    fn keys_move_within_the_objects() {
        let objects = snapshot(10);
        let mut screen = Screen::default();
        let mut first_after = |key| {
            screen.on_key(key, objects.len(), 5);
            lines(&mut screen, &*objects)[1]
                .split_whitespace()
                .nth(1)
                .unwrap()
                .to_owned()
        };
        assert_eq!(first_after(Key::Up), "c-00", "there is nothing above the first");
        assert_eq!(first_after(Key::Down), "c-01");
        assert_eq!(first_after(Key::PageDown), "c-04");
        assert_eq!(first_after(Key::End), "c-07", "the last page is full");
        assert_eq!(first_after(Key::Down), "c-07");
        assert_eq!(first_after(Key::PageUp), "c-04");
        assert_eq!(first_after(Key::Home), "c-00");
    }

    #[test]
    fn screen_follows_when_objects_go() {
        let mut screen = Screen::default();
        screen.on_key(Key::End, 10, 5);
        assert_eq!(
            lines(&mut screen, &*snapshot(1))[1],
            "n           c-00   1      60s"
        );
        assert_eq!(lines(&mut screen, &*snapshot(0))[1], "");
    }
}
