//! Text of others on its way to a shell or to a page: arguments quoted, passwords in addresses hidden.

/// What stands in an address where a user name or password stood.
pub const HIDDEN: &str = "***@";

/// An argument as a shell takes it.
pub(crate) fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:@%,".contains(c);
    match !argument.is_empty() && argument.chars().all(plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

/// The line that installs one thing.
pub(crate) fn pip_install(spec: &str) -> String {
    format!("pip install {}", quoted(spec))
}

/// A text with each user name and password in an address hidden: `https://***@host/x`.
pub fn hidden(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after
            .find(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c))
            .unwrap_or(after.len());
        rest = match after[..end].rfind('@') {
            // `git+ssh://git@host` names no secret
            Some(user) if &after[..user] == "git" => after,
            Some(user) => {
                out.push_str(HIDDEN);
                &after[user + 1..]
            }
            None => after,
        };
    }
    out.push_str(rest);
    out
}

/// An address as it may be said again: nothing of what may be a password or a token.
pub fn shown_address(text: &str) -> String {
    let most = |text: &str| -> String {
        let shown = text.chars().filter(|c| !c.is_control());
        shown.take(100).collect()
    };
    match text.split_once("://") {
        // where a password ends cannot be told, as it may hold any sign
        Some((scheme, _)) if text.contains('@') => format!("{}://...", most(scheme)),
        None if text.contains('@') => "...".to_owned(),
        _ => most(text.split(['?', '#']).next().unwrap_or("")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_addresses_are_hidden_and_the_rest_is_kept() {
        for (text, shown) in [
            (
                "--index-url https://u:p@pypi.example.org/simple",
                "--index-url https://***@pypi.example.org/simple",
            ),
            (
                "x @ https://u:p@w@h/x.whl and http://t@h",
                "x @ https://***@h/x.whl and http://***@h",
            ),
            ("git+ssh://git@h/a@b", "git+ssh://git@h/a@b"),
            ("https://h/a@b", "https://h/a@b"),
            ("a@b: ://", "a@b: ://"),
        ] {
            assert_eq!(hidden(text), shown);
        }
    }

    #[test]
    fn a_shell_takes_a_quoted_argument_as_one() {
        assert_eq!(quoted("torch==2.6.0+cu124"), "torch==2.6.0+cu124");
        assert_eq!(quoted("x>=1"), "'x>=1'");
        assert_eq!(quoted("a'b$(c)"), "'a'\\''b$(c)'");
        assert_eq!(quoted(""), "''");
    }
}
