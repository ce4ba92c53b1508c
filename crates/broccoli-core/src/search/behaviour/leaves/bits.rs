//! Floats are written as their bits: infinity is a value, and not every format has it.

use serde::{Deserialize, Deserializer, Serializer};

pub(in crate::search::behaviour) fn serialize<S: Serializer>(
    value: &f64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(value.to_bits())
}

pub(in crate::search::behaviour) fn deserialize<'d, D: Deserializer<'d>>(
    deserializer: D,
) -> Result<f64, D::Error> {
    u64::deserialize(deserializer).map(f64::from_bits)
}

/// The same for several.
pub(in crate::search::behaviour) mod several {
    use super::*;

    pub(in crate::search::behaviour) fn serialize<S: Serializer>(
        values: &[f64],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|value| value.to_bits()))
    }

    pub(in crate::search::behaviour) fn deserialize<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<u64>::deserialize(deserializer)?.into_iter().map(f64::from_bits).collect())
    }
}
