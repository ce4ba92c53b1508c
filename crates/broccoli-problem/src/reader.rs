//! Reads parsed TOML, value by value, with messages that say what is allowed and point at the place.

use std::ops::{Range, RangeInclusive};

use broccoli_expression::nearest::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnosis::Flaw;

/// What went wrong, or a value.
pub(crate) type Read<T> = Result<T, Flaw>;

/// A table whose keys are known.
pub(crate) struct Section<'d> {
    name: String,
    place: Range<usize>,
    table: &'d DeTable<'d>,
}

impl<'d> Section<'d> {
    /// The whole file.
    pub(crate) fn root(table: &'d DeTable<'d>, allowed: &[&str]) -> Read<Self> {
        Section { name: String::new(), place: 0..0, table }.only(allowed)
    }

    /// Refuses keys that are not allowed, with a suggestion.
    fn only(self, allowed: &[&str]) -> Read<Self> {
        for (key, _) in self.table.iter() {
            if !allowed.contains(&key.get_ref().as_ref()) {
                let what = if self.name.is_empty() { "section" } else { "key" };
                let place = if self.name.is_empty() { String::new() } else { format!(" in [{}]", self.name) };
                let flaw = Flaw::new(key.span(), format!("there is no {what} `{}`{place}", key.get_ref()));
                let flaw = match nearest(key.get_ref(), allowed) {
                    Some(near) => flaw.label(format!("did you mean `{near}`?")),
                    None => flaw.label(format!("unknown {what}")),
                };
                return Err(flaw.help(format!("allowed here: {}", allowed.join(", "))));
            }
        }
        Ok(self)
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<Item<'d>> {
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| self.item(key, value))
    }

    /// A section inside of this one.
    pub(crate) fn section(&self, key: &str, allowed: &[&str]) -> Read<Option<Section<'d>>> {
        self.get(key).map(|item| item.section(allowed)).transpose()
    }

    /// Every key with its value, whatever the keys are.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'d str, Range<usize>, Item<'d>)> + '_ {
        self.table.iter().map(|(key, value)| {
            let name: &'d str = key.get_ref();
            (name, key.span(), self.item(name, value))
        })
    }

    /// The value of a key that must be there.
    pub(crate) fn need(&self, key: &str, help: &str) -> Read<Item<'d>> {
        self.get(key).ok_or_else(|| self.missing(key, help))
    }

    /// That something is missing in this section.
    pub(crate) fn missing(&self, key: &str, help: &str) -> Flaw {
        let flaw = Flaw::new(self.place.clone(), format!("[{}] has no `{key}`", self.name));
        flaw.label("it is missing here").help(help)
    }

    /// Which one of some keys is there; at most one may be.
    pub(crate) fn one_of<'k>(&self, keys: &[&'k str]) -> Read<Option<(&'k str, Item<'d>)>> {
        let mut found = keys.iter().filter_map(|key| self.get(key).map(|item| (*key, item)));
        let first = found.next();
        match (&first, found.next()) {
            (Some((one, _)), Some((two, item))) => {
                let message = format!("[{}] has both `{one}` and `{two}`", self.name);
                Err(Flaw::new(item.place(), message).help(format!("give one of: {}", keys.join(", "))))
            }
            _ => Ok(first),
        }
    }

    /// Where the section is.
    pub(crate) fn place(&self) -> Range<usize> {
        self.place.clone()
    }

    fn item(&self, key: &str, value: &'d Spanned<DeValue<'d>>) -> Item<'d> {
        let name = if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) };
        Item { name, value }
    }
}

/// A value with the name of its key.
pub(crate) struct Item<'d> {
    name: String,
    value: &'d Spanned<DeValue<'d>>,
}

impl<'d> Item<'d> {
    /// Where the value is.
    pub(crate) fn place(&self) -> Range<usize> {
        self.value.span()
    }

    /// The value's key, with its section.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// That the value is not what it must be.
    pub(crate) fn wrong(&self, must: &str) -> Flaw {
        let found = match self.value.get_ref() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) | DeValue::Float(_) => "this number",
            DeValue::Boolean(_) => "a truth value",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "this list",
            DeValue::Table(_) => "this table",
        };
        Flaw::new(self.place(), format!("`{}` cannot be {found}", self.name))
            .label(format!("it must be {must}"))
    }

    /// The value as a table with some keys.
    pub(crate) fn section(&self, allowed: &[&str]) -> Read<Section<'d>> {
        self.any_section()?.only(allowed)
    }

    /// The value as a table with any keys.
    pub(crate) fn any_section(&self) -> Read<Section<'d>> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Section { name: self.name.clone(), place: self.place(), table }),
            _ => Err(self.wrong("a table")),
        }
    }

    /// Whether the value is a table.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Table(_))
    }

    /// The value as text that is not empty.
    pub(crate) fn text(&self) -> Read<&'d str> {
        match self.value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => Ok(text),
            DeValue::String(_) => Err(Flaw::new(self.place(), format!("`{}` is empty", self.name))),
            _ => Err(self.wrong("text between quotation marks")),
        }
    }

    /// The value as one of some words.
    pub(crate) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Read<T> {
        let text = self.text()?;
        words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let flaw = Flaw::new(self.place(), format!("`{}` cannot be {text:?}", self.name));
            let flaw = match nearest(text, &names) {
                Some(near) => flaw.label(format!("did you mean {near:?}?")),
                None => flaw.label("unknown"),
            };
            flaw.help(format!("it must be one of: {}", names.join(", ")))
        })
    }

    /// The value as a truth value.
    pub(crate) fn truth(&self) -> Read<bool> {
        match self.value.get_ref() {
            DeValue::Boolean(truth) => Ok(*truth),
            _ => Err(self.wrong("true or false")),
        }
    }

    /// The value as a whole number in a range.
    pub(crate) fn whole(&self, range: RangeInclusive<u64>) -> Read<u64> {
        let must = format!("a whole number from {} to {}", range.start(), range.end());
        match self.value.get_ref() {
            DeValue::Integer(integer) => {
                let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
                number.filter(|number| range.contains(number)).ok_or_else(|| self.wrong(&must))
            }
            _ => Err(self.wrong(&must)),
        }
    }

    /// The value as a finite number.
    pub(crate) fn number(&self) -> Read<f64> {
        let number = match self.value.get_ref() {
            DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok().map(|i| i as f64),
            DeValue::Float(float) => float.as_str().parse().ok(),
            _ => None,
        };
        number.filter(|number: &f64| number.is_finite()).ok_or_else(|| self.wrong("a finite number"))
    }

    /// The value as a list.
    pub(crate) fn list(&self, must: &str) -> Read<Vec<Item<'d>>> {
        match self.value.get_ref() {
            DeValue::Array(array) => {
                let item = |(index, value)| Item { name: format!("{}[{index}]", self.name), value };
                Ok(array.iter().enumerate().map(item).collect())
            }
            _ => Err(self.wrong(must)),
        }
    }

    /// The value as a list of finite numbers.
    pub(crate) fn numbers(&self) -> Read<Vec<f64>> {
        self.list("a list of numbers")?.iter().map(Item::number).collect()
    }

    /// The value as a list of texts.
    pub(crate) fn texts(&self) -> Read<Vec<String>> {
        let must = "a list of texts";
        self.list(must)?.iter().map(|item| item.text().map(str::to_owned)).collect()
    }
}
