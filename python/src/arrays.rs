//! NumPy arrays in and out, without a detour through Python's numbers.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Whether something is a NumPy array. NumPy need not be installed.
pub fn is_array(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    static NDARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (py, kind) = (value.py(), value.get_type());
    match NDARRAY.get(py) {
        Some(ndarray) => Ok(kind.is(ndarray)),
        None if kind.fully_qualified_name()? == "numpy.ndarray" => {
            let _ = NDARRAY.set(py, kind.unbind());
            Ok(true)
        }
        None => Ok(false),
    }
}

/// A one-dimensional array of float64, if that is what it is.
pub fn vector<'a, 'py>(value: &'a Bound<'py, PyAny>) -> PyResult<Option<&'a Bound<'py, PyArray1<f64>>>> {
    Ok(if is_array(value)? { value.cast::<PyArray1<f64>>().ok() } else { None })
}

/// Reads a one-dimensional array of float64 or float32, if that is what it is and it is as long as `numbers`;
/// whether it is.
pub fn read_vector(value: &Bound<'_, PyAny>, numbers: &mut [f64]) -> PyResult<bool> {
    if !is_array(value)? {
        return Ok(false);
    }
    if let Ok(array) = value.cast::<PyArray1<f64>>()
        && array.len() == numbers.len()
    {
        numbers.iter_mut().zip(array.try_readonly()?.as_array()).for_each(|(number, &value)| *number = value);
        return Ok(true);
    }
    if let Ok(array) = value.cast::<PyArray1<f32>>()
        && array.len() == numbers.len()
    {
        let array = array.try_readonly()?;
        numbers.iter_mut().zip(array.as_array()).for_each(|(number, &value)| *number = value.into());
        return Ok(true);
    }
    Ok(false)
}

/// An array with these rows.
pub fn rows<'py>(py: Python<'py>, values: &[f64], width: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, values).reshape([values.len() / width.max(1), width])
}

/// Reads `count` rows of numbers that `step_batch` has returned; `what` they are is for the message.
pub fn read_rows(value: &Bound<'_, PyAny>, what: &str, count: usize, numbers: &mut [f64]) -> PyResult<()> {
    let py = value.py();
    let width = numbers.len() / count;
    let wrong = || {
        let found = shown(value)?;
        PyResult::Ok(PyValueError::new_err(format!(
            "step_batch must return {what} as an array of shape ({count}, {width}), not {found}"
        )))
    };
    if let Ok(array) = value.cast::<PyArray2<f64>>() {
        if array.shape() != [count, width] {
            return Err(wrong()?);
        }
        let is_by_row = array.is_c_contiguous();
        let array = array.try_readonly()?;
        match array.as_slice() {
            Ok(slice) if is_by_row => numbers.copy_from_slice(slice),
            _ => {
                for (number, &value) in numbers.iter_mut().zip(array.as_array()) {
                    *number = value;
                }
            }
        }
        return Ok(());
    }
    // Another type of number, something that is only like an array, or one column without a second axis.
    let numpy = py.import(intern!(py, "numpy"))?;
    let Ok(array) = numpy.call_method1(intern!(py, "asarray"), (value, "float64")) else {
        return Err(wrong()?);
    };
    let shape: Vec<usize> = array.getattr(intern!(py, "shape"))?.extract()?;
    if shape != [count, width] && !(width == 1 && shape == [count]) {
        return Err(wrong()?);
    }
    read_rows(&array.call_method1(intern!(py, "reshape"), (count, width))?, what, count, numbers)
}

/// Reads `count` verdicts that `step_batch` has returned: 0 running, 1 satisfied, 2 violated.
pub fn read_verdicts(value: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<i64>> {
    let py = value.py();
    let wrong = || {
        let found = shown(value)?;
        PyResult::Ok(PyTypeError::new_err(format!(
            "step_batch must return verdicts as an array of {count} whole numbers \
             (0 running, 1 satisfied, 2 violated), not {found}"
        )))
    };
    if let Ok(array) = value.cast::<PyArray1<i64>>()
        && array.len() == count
    {
        return Ok(array.to_vec()?);
    }
    let numpy = py.import(intern!(py, "numpy"))?;
    let Ok(array) = numpy.call_method1(intern!(py, "asarray"), (value,)) else {
        return Err(wrong()?);
    };
    let kind: String = array.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "kind"))?.extract()?;
    let shape: Vec<usize> = array.getattr(intern!(py, "shape"))?.extract()?;
    if !matches!(kind.as_str(), "i" | "u") || shape != [count] {
        return Err(wrong()?);
    }
    let array = array.call_method1(intern!(py, "astype"), ("int64",))?;
    let array = array.cast::<PyArray1<i64>>()?.try_readonly()?;
    Ok(array.as_array().iter().copied().collect())
}

/// An array in a few words, or what else it is.
fn shown(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    match (value.getattr_opt(intern!(py, "shape"))?, value.getattr_opt(intern!(py, "dtype"))?) {
        (Some(shape), Some(dtype)) => Ok(format!("one of shape {shape} and type {dtype}")),
        _ => Ok(value.repr()?.to_string_lossy().chars().take(100).collect()),
    }
}
