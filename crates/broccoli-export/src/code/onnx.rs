//! ONNX: a tree ensemble of one tree, with thresholds in double precision (in single precision,
//! observations near a threshold would get another action).
//!
//! The model takes `observation`, doubles of shape `[N, dimensions]`, and gives `action`, N indices as
//! 64-bit integers. The few messages that are needed are written by hand: a field of a protocol buffer is
//! a key, which is its number and kind, and its contents.

use super::{Block, FeatureError, Program};

const DOUBLE: u64 = 11;
const INT64: u64 = 7;

/// The program as an ONNX model.
///
/// # Errors
/// When the tree asks for a derived dimension.
pub fn onnx(program: &Program<f64>) -> Result<Vec<u8>, FeatureError> {
    program.without_features("onnx")?;
    let mut table = Table::default();
    table.add(&program.root);

    let mut tree = node("TreeEnsembleRegressor", "observation", "score");
    tree.text(7, "ai.onnx.ml");
    tree.message(5, &integer("n_targets", 1));
    for (name, values) in [
        ("nodes_treeids", &table.zeros),
        ("nodes_nodeids", &table.ids),
        ("nodes_featureids", &table.features),
        ("nodes_truenodeids", &table.yes),
        ("nodes_falsenodeids", &table.no),
        ("nodes_missing_value_tracks_true", &table.zeros),
        ("target_treeids", &vec![0; table.leaves.len()]),
        ("target_nodeids", &table.leaves),
        ("target_ids", &vec![0; table.leaves.len()]),
    ] {
        tree.message(5, &integers(name, values));
    }
    tree.message(5, &strings("nodes_modes", &table.modes));
    tree.message(5, &doubles("nodes_values_as_tensor", &table.values));
    tree.message(5, &doubles("target_weights_as_tensor", &table.actions));

    let mut cast = node("Cast", "score", "column");
    cast.message(5, &integer("to", INT64));
    let mut reshape = node("Reshape", "column", "action");
    reshape.text(1, "shape");
    let mut shape = Message::default();
    shape.number(1, 1).number(2, INT64).text(8, "shape").bytes(9, &(-1_i64).to_le_bytes());

    let about = program.header.join("\n");
    let mut graph = Message::default();
    graph.message(1, &tree).message(1, &cast).message(1, &reshape).text(2, "policy").message(5, &shape);
    graph.message(11, &tensor("observation", DOUBLE, Some(program.inputs.len() as u64)));
    graph.message(12, &tensor("action", INT64, None));

    let mut model = Message::default();
    model.number(1, 8).text(2, "broccoli").text(3, env!("CARGO_PKG_VERSION")).text(6, &about);
    model.message(7, &graph).message(8, &opset("", 13)).message(8, &opset("ai.onnx.ml", 3));
    Ok(model.0)
}

/// The nodes in preorder, a list per attribute.
#[derive(Default)]
struct Table {
    ids: Vec<u64>,
    zeros: Vec<u64>,
    features: Vec<u64>,
    values: Vec<f64>,
    modes: Vec<&'static str>,
    yes: Vec<u64>,
    no: Vec<u64>,
    leaves: Vec<u64>,
    actions: Vec<f64>,
}

impl Table {
    fn add(&mut self, block: &Block<f64>) -> u64 {
        let id = self.ids.len();
        self.ids.push(id as u64);
        self.zeros.push(0);
        self.yes.push(0);
        self.no.push(0);
        match block {
            Block::Return(action) => {
                self.features.push(0);
                self.values.push(0.0);
                self.modes.push("LEAF");
                self.leaves.push(id as u64);
                self.actions.push(*action as f64);
            }
            Block::Test { input, at_least, yes, no } => {
                self.features.push(*input as u64);
                self.values.push(*at_least);
                self.modes.push("BRANCH_GTE");
                self.yes[id] = self.add(yes);
                self.no[id] = self.add(no);
            }
        }
        id as u64
    }
}

/// A message of a protocol buffer.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) -> &mut Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(&mut self, field: u64, text: &str) -> &mut Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(&mut self, field: u64, message: &Message) -> &mut Self {
        self.bytes(field, &message.0)
    }
}

fn node(operator: &str, input: &str, output: &str) -> Message {
    let mut node = Message::default();
    node.text(1, input).text(2, output).text(4, operator);
    node
}

fn attribute(name: &str, kind: u64) -> Message {
    let mut attribute = Message::default();
    attribute.text(1, name).number(20, kind);
    attribute
}

fn integer(name: &str, value: u64) -> Message {
    let mut attribute = attribute(name, 2);
    attribute.number(3, value);
    attribute
}

fn integers(name: &str, values: &[u64]) -> Message {
    let mut attribute = attribute(name, 7);
    for value in values {
        attribute.number(8, *value);
    }
    attribute
}

fn strings(name: &str, values: &[&str]) -> Message {
    let mut attribute = attribute(name, 8);
    for value in values {
        attribute.text(9, value);
    }
    attribute
}

fn doubles(name: &str, values: &[f64]) -> Message {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut tensor = Message::default();
    tensor.number(1, values.len() as u64).number(2, DOUBLE).text(8, name).bytes(9, &raw);
    let mut attribute = attribute(name, 4);
    attribute.message(5, &tensor);
    attribute
}

/// The name, type and shape of an input or output: `[N]`, or `[N, columns]`.
fn tensor(name: &str, element: u64, columns: Option<u64>) -> Message {
    let mut shape = Message::default();
    let mut rows = Message::default();
    rows.text(2, "N");
    shape.message(1, &rows);
    if let Some(columns) = columns {
        let mut dimension = Message::default();
        dimension.number(1, columns);
        shape.message(1, &dimension);
    }
    let (mut tensor, mut kind, mut info) = (Message::default(), Message::default(), Message::default());
    tensor.number(1, element).message(2, &shape);
    kind.message(1, &tensor);
    info.text(1, name).message(2, &kind);
    info
}

fn opset(domain: &str, version: u64) -> Message {
    let mut opset = Message::default();
    opset.text(1, domain).number(2, version);
    opset
}
