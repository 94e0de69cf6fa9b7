//! The words of quotes in English and Chinese, and what each means for a price.
//!
//! Only words that stand alone have a place here. Column titles are read in `header`, names of GPUs
//! come from the table of GPUs and names of providers from the caller.

use lessee_model::{Currency, Purchase};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A stretch of time that a price is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Period {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    HalfYear,
    Year,
}

/// What a price is for one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Gpu,
    Machine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kw {
    Currency(Currency),
    /// 万, 千, k
    Scale(i64),
    /// 每, per, each
    Per,
    Period(Period),
    Scope(Scope),
    /// A token, a gigabyte, a core, a frame: nothing that is rented as a machine.
    Thing,
    /// 约, about
    Approx,
    /// 起, from
    AtLeast,
    /// 最高, up to
    AtMost,
    /// 至, to
    To,
    /// 单卡
    Single,
    /// 双卡
    Dual,
    /// 月租, hourly: the price that follows is for this long
    Label(Period),
    Buy(Purchase),
    /// 包年包月: by month or by year, the unit tells
    Subscription,
    /// 单价, price, rent
    Price,
    /// 合计, total
    Total,
    /// 显存, VRAM
    Vram,
    /// 内存, RAM
    Ram,
    /// 核, vCPU
    Core,
    Giga,
    Tera,
    Gbps,
    Disk,
    Net,
    /// `x`, `*`, `×`
    Times,
    /// 租期, term
    Term,
}

const ZH: &[(&str, Kw)] = {
    use self::Kw::*;
    use self::Period::*;
    &[
        ("元", Kw::Currency(lessee_model::Currency::CNY)),
        ("块钱", Kw::Currency(lessee_model::Currency::CNY)),
        ("人民币", Kw::Currency(lessee_model::Currency::CNY)),
        ("圆", Kw::Currency(lessee_model::Currency::CNY)),
        ("美元", Kw::Currency(lessee_model::Currency::USD)),
        ("美金", Kw::Currency(lessee_model::Currency::USD)),
        ("刀", Kw::Currency(lessee_model::Currency::USD)),
        ("欧元", Kw::Currency(lessee_model::Currency::EUR)),
        ("千", Scale(1_000)),
        ("万", Scale(10_000)),
        ("亿", Scale(100_000_000)),
        ("每", Per),
        ("小时", Kw::Period(Hour)),
        ("时", Kw::Period(Hour)),
        ("钟头", Kw::Period(Hour)),
        ("天", Kw::Period(Day)),
        ("日", Kw::Period(Day)),
        ("周", Kw::Period(Week)),
        ("星期", Kw::Period(Week)),
        ("个月", Kw::Period(Month)),
        ("月", Kw::Period(Month)),
        ("季度", Kw::Period(Quarter)),
        ("季", Kw::Period(Quarter)),
        ("半年", Kw::Period(HalfYear)),
        ("年", Kw::Period(Year)),
        ("分钟", Kw::Period(Minute)),
        ("秒", Kw::Period(Second)),
        ("卡", Kw::Scope(self::Scope::Gpu)),
        ("张卡", Kw::Scope(self::Scope::Gpu)),
        ("张", Kw::Scope(self::Scope::Gpu)),
        ("块卡", Kw::Scope(self::Scope::Gpu)),
        ("块显卡", Kw::Scope(self::Scope::Gpu)),
        ("张显卡", Kw::Scope(self::Scope::Gpu)),
        ("路", Kw::Scope(self::Scope::Gpu)),
        ("显卡", Kw::Scope(self::Scope::Gpu)),
        ("整机", Kw::Scope(self::Scope::Machine)),
        ("裸金属", Kw::Scope(self::Scope::Machine)),
        ("台", Kw::Scope(self::Scope::Machine)),
        ("机器", Kw::Scope(self::Scope::Machine)),
        ("节点", Kw::Scope(self::Scope::Machine)),
        ("实例", Kw::Scope(self::Scope::Machine)),
        ("主机", Kw::Scope(self::Scope::Machine)),
        ("服务器", Kw::Scope(self::Scope::Machine)),
        ("机", Kw::Scope(self::Scope::Machine)),
        ("核时", Thing),
        ("度电", Thing),
        ("百万", Thing),
        ("次", Thing),
        ("条", Thing),
        ("帧", Thing),
        ("单帧", Thing),
        ("请求", Thing),
        ("人天", Thing),
        ("机柜", Thing),
        ("用户", Thing),
        ("授权", Thing),
        ("单核", Thing),
        ("约", Approx),
        ("大约", Approx),
        ("大概", Approx),
        ("左右", Approx),
        ("上下", Approx),
        ("预估", Approx),
        ("估算", Approx),
        ("估计", Approx),
        ("折算", Approx),
        ("折合", Approx),
        ("接近", Approx),
        ("起步", AtLeast),
        ("起", AtLeast),
        ("低至", AtLeast),
        ("最低", AtLeast),
        ("不低于", AtLeast),
        ("以上", AtLeast),
        ("最高", AtMost),
        ("不超过", AtMost),
        ("不高于", AtMost),
        ("最多", AtMost),
        ("至多", AtMost),
        ("上限", AtMost),
        ("封顶", AtMost),
        ("以内", AtMost),
        ("以下", AtMost),
        ("至", To),
        ("到", To),
        ("单卡", Single),
        ("单张", Single),
        ("双卡", Dual),
        ("月租金", Label(Month)),
        ("月租", Label(Month)),
        ("包月", Label(Month)),
        ("月价", Label(Month)),
        ("月费", Label(Month)),
        ("时租", Label(Hour)),
        ("小时价", Label(Hour)),
        ("时价", Label(Hour)),
        ("日租", Label(Day)),
        ("包日", Label(Day)),
        ("包天", Label(Day)),
        ("包周", Label(Week)),
        ("周租", Label(Week)),
        ("年租", Label(Year)),
        ("包年", Label(Year)),
        ("年费", Label(Year)),
        ("包年包月", Subscription),
        ("包年/包月", Subscription),
        ("包年包月价", Subscription),
        ("按量付费", Buy(Purchase::OnDemand)),
        ("按量计费", Buy(Purchase::OnDemand)),
        ("按量", Buy(Purchase::OnDemand)),
        ("按需", Buy(Purchase::OnDemand)),
        ("按时计费", Buy(Purchase::OnDemand)),
        ("按小时计费", Buy(Purchase::OnDemand)),
        ("后付费", Buy(Purchase::OnDemand)),
        ("抢占式", Buy(Purchase::Spot)),
        ("抢占", Buy(Purchase::Spot)),
        ("竞价", Buy(Purchase::Spot)),
        ("竞享", Buy(Purchase::Spot)),
        ("月付", Label(Month)),
        ("季付", Label(Quarter)),
        ("半年付", Label(HalfYear)),
        ("年付", Label(Year)),
        ("单价", Price),
        ("价格", Price),
        ("租金", Price),
        ("报价", Price),
        ("价", Price),
        ("费用", Price),
        ("合计", Total),
        ("总计", Total),
        ("总价", Total),
        ("总额", Total),
        ("总金额", Total),
        ("小计", Total),
        ("显存", Vram),
        ("内存", Ram),
        ("核", Core),
        ("系统盘", Disk),
        ("数据盘", Disk),
        ("本地盘", Disk),
        ("云盘", Disk),
        ("硬盘", Disk),
        ("盘", Disk),
        ("带宽", Net),
        ("网络", Net),
        ("组网", Net),
        ("租期", Term),
        ("租赁期限", Term),
        ("期限", Term),
        ("合同期", Term),
        ("服务期", Term),
    ]
};

const EN: &[(&str, Kw)] = {
    use self::Kw::*;
    use self::Period::*;
    &[
        ("usd", Kw::Currency(lessee_model::Currency::USD)),
        ("dollar", Kw::Currency(lessee_model::Currency::USD)),
        ("dollars", Kw::Currency(lessee_model::Currency::USD)),
        ("cny", Kw::Currency(lessee_model::Currency::CNY)),
        ("rmb", Kw::Currency(lessee_model::Currency::CNY)),
        ("yuan", Kw::Currency(lessee_model::Currency::CNY)),
        ("eur", Kw::Currency(lessee_model::Currency::EUR)),
        ("euro", Kw::Currency(lessee_model::Currency::EUR)),
        ("euros", Kw::Currency(lessee_model::Currency::EUR)),
        ("k", Scale(1_000)),
        ("w", Scale(10_000)),
        ("per", Per),
        ("each", Per),
        ("every", Per),
        ("h", Kw::Period(Hour)),
        ("hr", Kw::Period(Hour)),
        ("hrs", Kw::Period(Hour)),
        ("hour", Kw::Period(Hour)),
        ("hours", Kw::Period(Hour)),
        ("d", Kw::Period(Day)),
        ("day", Kw::Period(Day)),
        ("days", Kw::Period(Day)),
        ("wk", Kw::Period(Week)),
        ("week", Kw::Period(Week)),
        ("weeks", Kw::Period(Week)),
        ("mo", Kw::Period(Month)),
        ("mon", Kw::Period(Month)),
        ("mos", Kw::Period(Month)),
        ("mth", Kw::Period(Month)),
        ("month", Kw::Period(Month)),
        ("months", Kw::Period(Month)),
        ("quarter", Kw::Period(Quarter)),
        ("y", Kw::Period(Year)),
        ("yr", Kw::Period(Year)),
        ("yrs", Kw::Period(Year)),
        ("year", Kw::Period(Year)),
        ("years", Kw::Period(Year)),
        ("annum", Kw::Period(Year)),
        ("min", Kw::Period(Minute)),
        ("minute", Kw::Period(Minute)),
        ("minutes", Kw::Period(Minute)),
        ("s", Kw::Period(Second)),
        ("sec", Kw::Period(Second)),
        ("second", Kw::Period(Second)),
        ("gpu", Kw::Scope(self::Scope::Gpu)),
        ("gpus", Kw::Scope(self::Scope::Gpu)),
        ("card", Kw::Scope(self::Scope::Gpu)),
        ("cards", Kw::Scope(self::Scope::Gpu)),
        ("accelerator", Kw::Scope(self::Scope::Gpu)),
        ("accelerators", Kw::Scope(self::Scope::Gpu)),
        ("node", Kw::Scope(self::Scope::Machine)),
        ("nodes", Kw::Scope(self::Scope::Machine)),
        ("instance", Kw::Scope(self::Scope::Machine)),
        ("instances", Kw::Scope(self::Scope::Machine)),
        ("machine", Kw::Scope(self::Scope::Machine)),
        ("machines", Kw::Scope(self::Scope::Machine)),
        ("server", Kw::Scope(self::Scope::Machine)),
        ("servers", Kw::Scope(self::Scope::Machine)),
        ("host", Kw::Scope(self::Scope::Machine)),
        ("vm", Kw::Scope(self::Scope::Machine)),
        ("system", Kw::Scope(self::Scope::Machine)),
        ("token", Thing),
        ("tokens", Thing),
        ("million", Thing),
        ("m", Thing),
        ("mtok", Thing),
        ("mbps", Thing),
        ("frame", Thing),
        ("frames", Thing),
        ("image", Thing),
        ("request", Thing),
        ("requests", Thing),
        ("seat", Thing),
        ("user", Thing),
        ("licence", Thing),
        ("license", Thing),
        ("kwh", Thing),
        ("kw", Thing),
        ("rack", Thing),
        ("call", Thing),
        ("about", Approx),
        ("approx", Approx),
        ("approximately", Approx),
        ("around", Approx),
        ("roughly", Approx),
        ("circa", Approx),
        ("ca", Approx),
        ("est", Approx),
        ("estimated", Approx),
        ("from", AtLeast),
        ("starting", AtLeast),
        ("minimum", AtLeast),
        ("low", AtLeast),
        ("least", AtLeast),
        ("above", AtLeast),
        ("maximum", AtMost),
        ("max", AtMost),
        ("most", AtMost),
        ("than", AtMost),
        ("exceed", AtMost),
        ("less", AtMost),
        ("within", AtMost),
        ("exceeding", AtMost),
        ("capped", AtMost),
        ("below", AtMost),
        ("under", AtMost),
        ("to", To),
        ("hourly", Label(Hour)),
        ("daily", Label(Day)),
        ("weekly", Label(Week)),
        ("monthly", Label(Month)),
        ("yearly", Label(Year)),
        ("annual", Label(Year)),
        ("annually", Label(Year)),
        ("quarterly", Label(Quarter)),
        ("spot", Buy(Purchase::Spot)),
        ("preemptible", Buy(Purchase::Spot)),
        ("interruptible", Buy(Purchase::Spot)),
        ("ondemand", Buy(Purchase::OnDemand)),
        ("payg", Buy(Purchase::OnDemand)),
        ("subscription", Subscription),
        ("price", Price),
        ("rate", Price),
        ("cost", Price),
        ("rent", Price),
        ("fee", Price),
        ("total", Total),
        ("subtotal", Total),
        ("vram", Vram),
        ("ram", Ram),
        ("ddr", Ram),
        ("memory", Ram),
        ("vcpu", Core),
        ("vcpus", Core),
        ("cpu", Core),
        ("cpus", Core),
        ("core", Core),
        ("cores", Core),
        ("c", Core),
        ("g", Giga),
        ("gb", Giga),
        ("gib", Giga),
        ("t", Tera),
        ("tb", Tera),
        ("tib", Tera),
        ("gbps", Gbps),
        ("gbit", Gbps),
        ("gb/s", Gbps),
        ("nvme", Disk),
        ("ssd", Disk),
        ("disk", Disk),
        ("disks", Disk),
        ("storage", Disk),
        ("ib", Net),
        ("infiniband", Net),
        ("roce", Net),
        ("ethernet", Net),
        ("network", Net),
        ("x", Times),
        ("term", Term),
        ("commitment", Term),
        ("commit", Term),
        ("reserved", Term),
        ("contract", Term),
    ]
};

/// What an English word means; `word` in lower case.
pub(crate) fn english(word: &str) -> Option<Kw> {
    static WORDS: OnceLock<HashMap<&'static str, Kw>> = OnceLock::new();
    let known = WORDS
        .get_or_init(|| EN.iter().copied().collect())
        .get(word)
        .copied();
    // any other ISO code that is written beside prices
    known.or_else(|| match word {
        "gbp" | "jpy" | "hkd" | "inr" | "krw" | "sgd" | "aud" | "cad" | "chf" | "twd" | "sek"
        | "nok" | "dkk" | "pln" | "brl" => word.parse().ok().map(Kw::Currency),
        "日元" => "JPY".parse().ok().map(Kw::Currency),
        _ => None,
    })
}

/// The longest Chinese word that `rest` begins with, and its length in bytes.
pub(crate) fn chinese(rest: &str) -> Option<(Kw, usize)> {
    static WORDS: OnceLock<HashMap<char, Vec<(&'static str, Kw)>>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let mut by_first: HashMap<char, Vec<(&'static str, Kw)>> = HashMap::new();
        let mut add = |word: &'static str, kw: Kw| {
            if let Some(first) = word.chars().next() {
                by_first.entry(first).or_default().push((word, kw));
            }
        };
        for (word, kw) in ZH {
            add(word, *kw);
        }
        for (word, code) in [
            ("日元", "JPY"),
            ("円", "JPY"),
            ("港币", "HKD"),
            ("港元", "HKD"),
            ("英镑", "GBP"),
            ("新台币", "TWD"),
            ("韩元", "KRW"),
        ] {
            if let Ok(currency) = code.parse() {
                add(word, Kw::Currency(currency));
            }
        }
        for list in by_first.values_mut() {
            list.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        }
        by_first
    });
    words
        .get(&rest.chars().next()?)?
        .iter()
        .find(|(word, _)| rest.starts_with(word))
        .map(|(word, kw)| (*kw, word.len()))
}

/// `$`, `US$`, `HK$`, `¥` ... at the start of `rest`, and the length in bytes.
pub(crate) fn currency_sign(rest: &str) -> Option<(Currency, usize)> {
    for (sign, code) in [
        ("us$", "USD"),
        ("hk$", "HKD"),
        ("nt$", "TWD"),
        ("cn¥", "CNY"),
        ("jp¥", "JPY"),
        ("a$", "AUD"),
        ("c$", "CAD"),
        ("s$", "SGD"),
        ("$", "USD"),
        ("¥", "CNY"),
        ("€", "EUR"),
        ("£", "GBP"),
        ("₹", "INR"),
        ("₩", "KRW"),
    ] {
        if rest.starts_with(sign) {
            return code.parse().ok().map(|c| (c, sign.len()));
        }
    }
    None
}
