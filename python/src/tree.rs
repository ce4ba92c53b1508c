//! Trees with the names of their dimensions and actions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use broccoli_core::problem::{Objective, Problem, Thresholds};
use broccoli_core::tree::{Tree as CoreTree, TreeJson};
use broccoli_export::drawing::{Theme, escaped, tree_svg};
use pyo3::prelude::*;

use crate::problem::wrong;
use crate::system::read_numbers;

/// A decision tree. Its names come from a problem; thresholds and initial states of that are of no matter.
#[pyclass(frozen, module = "broccoli._broccoli")]
#[derive(Clone)]
pub struct Tree {
    core: CoreTree,
    names: Arc<Problem>,
}

impl Tree {
    pub fn of(core: CoreTree, problem: &Arc<Problem>) -> Self {
        Tree { core, names: Arc::clone(problem) }
    }

    pub fn core(&self) -> &CoreTree {
        &self.core
    }

    /// Refuses a tree that is not about the dimensions and actions of a problem.
    pub fn check_for(&self, problem: &Arc<Problem>) -> PyResult<()> {
        if Arc::ptr_eq(&self.names, problem) {
            return Ok(());
        }
        let names = |problem: &Problem| {
            let dimensions = problem.dimensions().iter().map(|d| d.name.clone());
            dimensions.chain(problem.actions().iter().map(|a| a.name.clone())).collect::<Vec<_>>()
        };
        let [own, other] = [names(&self.names), names(problem)];
        let count = |problem: &Problem| problem.dimensions().len();
        if own == other && count(&self.names) == count(problem) {
            return Ok(());
        }
        let (own, other) = (own.join(", "), other.join(", "));
        Err(wrong(format_args!("the tree is about {own}, and the problem about {other}")))
    }

    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.core.to_json(&self.names)).map_err(wrong)
    }
}

#[pymethods]
impl Tree {
    #[new]
    fn new(json: &str, dimensions: Vec<String>, actions: Vec<String>) -> PyResult<Self> {
        let mut builder = Problem::builder().initial([0.0]).objective(Objective::reach(1));
        for name in dimensions {
            builder = builder.dimension(name, Thresholds::none());
        }
        for name in actions {
            builder = builder.action(name, 0.0);
        }
        let names = Arc::new(builder.build().map_err(wrong)?);
        let tree: TreeJson = serde_json::from_str(json)
            .map_err(|error| wrong(format_args!("not the JSON of a tree: {error}")))?;
        Ok(Tree { core: tree.check(&names).map_err(wrong)?, names })
    }

    /// The arguments that make it again, for `pickle` and `copy`.
    fn __getnewargs__(&self) -> PyResult<(String, Vec<String>, Vec<String>)> {
        Ok((self.json()?, self.dimensions(), self.actions()))
    }

    #[getter]
    fn dimensions(&self) -> Vec<String> {
        self.names.dimensions().iter().map(|d| d.name.clone()).collect()
    }

    #[getter]
    fn actions(&self) -> Vec<String> {
        self.names.actions().iter().map(|a| a.name.clone()).collect()
    }

    #[getter]
    fn size(&self) -> u64 {
        self.core.size()
    }

    #[getter]
    fn depth(&self) -> u32 {
        self.core.depth()
    }

    fn to_json(&self) -> PyResult<String> {
        self.json()
    }

    fn action(&self, observation: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut values = vec![0.0; self.names.dimensions().len()];
        read_numbers(observation, &mut values)?;
        match values.iter().position(|v| v.is_nan()) {
            Some(i) => {
                let name = &self.names.dimensions()[i].name;
                Err(wrong(format_args!("the observation is NaN in dimension {name:?}")))
            }
            None => Ok(self.core.action(&values)),
        }
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.core == other.core
            && self.dimensions() == other.dimensions()
            && self.actions() == other.actions()
    }

    fn __hash__(&self) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        self.json()?.hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn __str__(&self) -> String {
        self.core.drawing(&self.names).to_string().trim_end().to_owned()
    }

    fn __repr__(&self) -> String {
        format!("Tree({})", self.core.one_line(&self.names))
    }

    fn to_svg(&self) -> String {
        let description = self.core.one_line(&self.names).to_string();
        tree_svg(&self.names, &self.core, Theme::Auto, "Decision tree", &description)
    }

    /// The picture as an image of its own, so that its style does not get into the page.
    fn _repr_html_(&self) -> String {
        let encode = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        };
        let encoded: String = self.to_svg().bytes().map(encode).collect();
        format!("<img alt=\"{}\" src=\"data:image/svg+xml,{encoded}\">", escaped(&self.__repr__()))
    }
}
