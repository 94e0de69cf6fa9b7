//! The frame of every HTML answer: one page that stands alone. No script, nothing fetched, light and dark by the
//! reader's system, wide tables scroll inside themselves, and paper gets black on white.

use crate::Lang;

const CSS: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,'Noto Sans','Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif;\
margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1b1b1b;background:#fff}\
h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.2rem;margin-top:2rem}\
.w{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0;width:100%}\
th,td{padding:.3rem .6rem;border-bottom:1px solid #ccc;text-align:left;vertical-align:top}\
td.r,th.r{text-align:right;font-variant-numeric:tabular-nums}pre{overflow:auto}\
figure{margin:1.5rem 0}figure svg{max-width:100%;height:auto}\
@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}th,td{border-color:#444}}\
@media print{body{color:#000;background:#fff;margin:0;max-width:none}figure,tr{break-inside:avoid}}";

/// `title` and `body` are HTML already.
pub(crate) fn page(title: &str, lang: Lang, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"{}\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title}</title><style>{CSS}</style></head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n",
        lang.as_str()
    )
}
