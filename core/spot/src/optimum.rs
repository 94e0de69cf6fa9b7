//! The least cost that anybody could have reached who knew the whole record: a dynamic programme.
