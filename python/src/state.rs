//! States of Python systems as bytes, which is how a search keeps them.
//!
//! Bytes rather than references: a search drops states without a word, and a system that changes its state
//! in place cannot spoil what was saved. Floats go straight into bytes, everything else through `pickle`.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyTuple};

use crate::arrays::vector;

const FLOATS: u8 = 0;
const BYTES: u8 = 1;
const ARRAY: u8 = 2;
const PICKLE: u8 = 3;

/// Appends a state.
pub fn write(state: &Bound<'_, PyAny>, bytes: &mut Vec<u8>) -> PyResult<()> {
    if let Ok(tuple) = state.cast_exact::<PyTuple>() {
        let start = bytes.len();
        bytes.push(FLOATS);
        let mut items = tuple.iter_borrowed();
        if items
            .all(|item| item.cast_exact::<PyFloat>().map(|f| bytes.extend(f.value().to_le_bytes())).is_ok())
        {
            return Ok(());
        }
        bytes.truncate(start);
    }
    if let Ok(raw) = state.cast_exact::<PyBytes>() {
        bytes.push(BYTES);
        bytes.extend_from_slice(raw.as_bytes());
        return Ok(());
    }
    if let Some(vector) = vector(state)? {
        bytes.push(ARRAY);
        bytes.extend(vector.try_readonly()?.as_array().iter().flat_map(|value| value.to_le_bytes()));
        return Ok(());
    }
    let pickled = pickle(state.py())?.call_method1("dumps", (state, 5))?;
    bytes.push(PICKLE);
    bytes.extend_from_slice(pickled.cast::<PyBytes>()?.as_bytes());
    Ok(())
}

/// The state that was written.
pub fn read<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match bytes.split_first() {
        Some((&FLOATS, rest)) => {
            let (words, _) = rest.as_chunks::<8>();
            Ok(PyTuple::new(py, words.iter().map(|&word| f64::from_le_bytes(word)))?.into_any())
        }
        Some((&BYTES, rest)) => Ok(PyBytes::new(py, rest).into_any()),
        Some((&ARRAY, rest)) => {
            let (words, _) = rest.as_chunks::<8>();
            let values = words.iter().map(|&word| f64::from_le_bytes(word));
            Ok(PyArray1::from_iter(py, values).into_any())
        }
        Some((&PICKLE, rest)) => pickle(py)?.call_method1("loads", (PyBytes::new(py, rest),)),
        _ => Err(PyValueError::new_err("not a saved state")),
    }
}

fn pickle(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "pickle"))
}
