//! Reads JSON files. Objects must be written as objects: serde also accepts a list with the members in the
//! order of their declaration, so `[]` would be an incomplete object.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use std::fmt;
use std::io::Read;

/// The start of the expectation of an enum that is written as an object with a member for the variant.
const TAGGED: &str = "internally tagged enum";

/// Reads a value from JSON, in which every object is written as an object.
///
/// # Errors
/// The first violation of the syntax or of the type.
pub fn json_from_slice<'de, T: Deserialize<'de>>(data: &'de [u8]) -> serde_json::Result<T> {
    whole(serde_json::Deserializer::from_slice(data))
}

/// Like [`json_from_slice`], but reads from a stream.
///
/// # Errors
/// Also errors of the stream.
pub(crate) fn json_from_reader<T: for<'de> Deserialize<'de>>(input: impl Read) -> serde_json::Result<T> {
    whole(serde_json::Deserializer::from_reader(input))
}

fn whole<'de, R: serde_json::de::Read<'de>, T: Deserialize<'de>>(
    mut deserializer: serde_json::Deserializer<R>,
) -> serde_json::Result<T> {
    let value = T::deserialize(Strict(&mut deserializer))?;
    deserializer.end()?;
    Ok(value)
}

/// A deserializer, a visitor, or access to inner values, that reads objects only from objects.
struct Strict<T>(T);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct identifier
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Strict(visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Strict(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, Strict(visitor))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Strict(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, Strict(visitor))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_ignored_any(visitor)
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Strict<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<V::Value, E> {
        self.0.visit_bool(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<V::Value, E> {
        self.0.visit_i64(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<V::Value, E> {
        self.0.visit_u64(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<V::Value, E> {
        self.0.visit_f64(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<V::Value, E> {
        self.0.visit_str(value)
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<V::Value, E> {
        self.0.visit_borrowed_str(value)
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Strict(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Strict(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        if (&self as &dyn Expected).to_string().starts_with(TAGGED) {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        self.0.visit_seq(Strict(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Strict(members))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Strict(variant))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(inner))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Strict(seed))
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Strict<A> {
    type Error = A::Error;
    type Variant = Strict<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let (name, variant) = self.0.variant_seed(seed)?;
        Ok((name, Strict(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Strict(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(length, Strict(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.newtype_variant_seed(Object(visitor))
    }
}

/// The members of a variant, as an object.
struct Object<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Object<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        Strict(inner).deserialize_map(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::json_error;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Point {
        x: u64,
        #[serde(default)]
        next: Option<Box<Point>>,
        #[serde(default)]
        more: Vec<Point>,
        #[serde(default)]
        kind: Option<Kind>,
        #[serde(default)]
        way: Way,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(tag = "kind", rename_all = "kebab-case")]
    enum Kind {
        Small { by: u64 },
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Way {
        #[default]
        None,
        To(u64),
        Over(Box<Point>),
        Past {
            x: i64,
        },
    }

    #[test]
    fn lists_are_not_objects() {
        for bad in [
            "[]",
            "[1, null, [], null]",
            r#"{"x": 1, "next": [2]}"#,
            r#"{"x": 1, "more": [{"x": 2}, [3]]}"#,
            r#"{"x": 1, "kind": ["small", 1]}"#,
            r#"{"x": 1, "way": {"over": [1]}}"#,
            r#"{"x": 1, "way": {"past": [1]}}"#,
        ] {
            let error = json_from_slice::<Point>(bad.as_bytes()).unwrap_err();
            assert!(
                json_error(&error).ends_with(": a list is not an object"),
                "{bad}: {}",
                json_error(&error)
            );
            let error = json_from_reader::<Point>(bad.as_bytes()).unwrap_err();
            assert!(
                json_error(&error).ends_with(": a list is not an object"),
                "{bad}: {}",
                json_error(&error)
            );
        }
        for bad in ["{\"x\": 1} 2", "{\"x\": 1.5}", "{\"x\": -1}", "{\"y\": 1}", "7", ""] {
            let plain = serde_json::from_str::<Point>(bad).unwrap_err().to_string();
            assert_eq!(json_from_slice::<Point>(bad.as_bytes()).unwrap_err().to_string(), plain, "{bad}");
        }
    }

    #[test]
    fn objects_are_read_as_by_serde() {
        for good in [
            r#"{"x": 1}"#,
            r#"{"x": 1, "next": {"x": 2, "next": null}, "more": [{"x": 3}, {"x": 4, "more": []}]}"#,
            r#"{"x": 1, "kind": {"kind": "small", "by": 2}, "way": "none"}"#,
            r#"{"x": 1, "way": {"to": 2}, "unknown": [1, [2]]}"#,
            r#"{"x": 1, "way": {"over": {"x": 18446744073709551615}}}"#,
            r#"{"x": 1, "way": {"past": {"x": -1}}}"#,
        ] {
            let plain: Point = serde_json::from_str(good).unwrap();
            assert_eq!(json_from_slice::<Point>(good.as_bytes()).unwrap(), plain, "{good}");
        }
    }
}
