//! Which role a column has, by the words of its title.

use super::{Role, any};

/// In this order: the first that fits decides.
pub(super) fn of(t: &str) -> Option<Role> {
    // the words before a bracket say what, the bracket only in which unit
    let head = t.split(['(', '[']).next().unwrap_or(t).trim();
    let head = if head.is_empty() { t } else { head };
    let is = |words: &[&str]| words.contains(&head);
    use Role::*;
    if any(head, &["token", "百万", "per million", "/1m", "/m "]) {
        return Some(Other);
    }
    if any(
        head,
        &[
            "计费方式",
            "付费方式",
            "付款方式",
            "付款周期",
            "付费周期",
            "结算周期",
            "计费模式",
            "付费模式",
            "购买方式",
            "付费类型",
            "计费类型",
            "计价方式",
            "billing",
            "payment",
            "purchase",
            "pricing model",
            "pricing type",
            "price type",
            "租赁方式",
            "购买类型",
            "plan",
        ],
    ) || is(&["付费", "计费", "market", "tenancy", "方式"])
    {
        return Some(Billing);
    }
    if any(
        head,
        &[
            "计价单位",
            "价格单位",
            "计费单位",
            "price unit",
            "unit of measure",
            "billing unit",
            "uom",
        ],
    ) || is(&["单位", "unit", "per", "price per", "unit of price"])
    {
        return Some(PriceUnit);
    }
    if any(head, &["币种", "货币", "currency"]) || is(&["ccy"]) {
        return Some(Currency);
    }
    if any(head, &["报价方", "报价单位", "出租方", "供应商"]) {
        return Some(Provider);
    }
    if any(head, &["报价单", "报价人", "报价编号"]) {
        return Some(Other);
    }
    if any(head, &["有效期", "valid", "expir", "截止"]) {
        return Some(Validity);
    }
    if any(
        head,
        &["报价日期", "日期", "as of", "as-of", "updated", "更新时间"],
    ) || is(&["date", "asof", "quoted"])
    {
        return Some(Date);
    }
    if any(head, &["折扣", "discount"]) && !any(head, &["价", "price"]) {
        return Some(Discount);
    }
    if any(head, &["税率", "是否含税", "发票", "tax", "vat"])
        && !any(head, &["价", "price", "月租", "cost", "rate ("])
        || is(&["含税", "税", "不含税", "tax"])
    {
        return Some(Tax);
    }
    if any(
        head,
        &[
            "显存",
            "vram",
            "gpu memory",
            "gpu mem",
            "gpu ram",
            "memory per gpu",
            "video memory",
            "memory gb each",
            "gpu memory gb",
        ],
    ) {
        return Some(GpuMemory);
    }
    if any(head, &["核心数", "cuda"]) {
        return Some(Other);
    }
    if any(
        head,
        &[
            "卡数",
            "gpu数",
            "gpu 数",
            "gpu个数",
            "gpu 个数",
            "显卡数",
            "gpu count",
            "number of gpus",
            "num gpus",
            "# gpus",
            "#gpus",
            "gpus per",
            "gpu qty",
            "gpu quantity",
            "accelerator count",
            "num gpu",
            "no. of gpus",
            "gpu num",
            "张数",
            "每台卡",
            "gpu.count",
            "gpu 卡",
            "ngpu",
        ],
    ) || is(&["gpus", "count", "# gpu", "#gpu", "gpu #", "cards", "x"])
    {
        return Some(GpuCount);
    }
    if any(
        head,
        &[
            "台数",
            "节点数",
            "机器数",
            "服务器数",
            "node count",
            "nodes",
            "machine count",
            "instances",
            "number of servers",
        ],
    ) {
        return Some(Machines);
    }
    if any(
        head,
        &[
            "合计",
            "总计",
            "总价",
            "总额",
            "总金额",
            "小计",
            "total",
            "金额",
        ],
    ) || is(&["subtotal", "sum"])
    {
        return Some(Total);
    }
    if is_price(t, head) {
        return Some(Price);
    }
    if is(&[
        "数量", "qty", "quantity", "count", "个数", "number", "units",
    ]) {
        return Some(Quantity);
    }
    if any(
        head,
        &[
            "租期",
            "期限",
            "合同期",
            "term",
            "commit",
            "duration",
            "租赁期",
            "周期",
            "时长",
            "contract length",
            "lease",
        ],
    ) {
        return Some(Term);
    }
    if any(head, &["vcpu", "cpu", "处理器"]) || is(&["核", "核数", "cores", "core"]) {
        return Some(Vcpus);
    }
    if any(
        head,
        &[
            "系统盘",
            "数据盘",
            "本地盘",
            "硬盘",
            "磁盘",
            "nvme",
            "ssd",
            "disk",
            "storage",
            "存储",
        ],
    ) {
        return Some(Disk);
    }
    if any(
        head,
        &[
            "互联",
            "组网",
            "interconnect",
            "nvlink",
            "infiniband",
            "roce",
            "rdma",
        ],
    ) || is(&["ib"])
    {
        return Some(Interconnect);
    }
    if any(head, &["带宽", "网络", "network", "bandwidth"]) {
        return Some(Network);
    }
    if any(
        head,
        &["内存", "system memory", "host memory", "memory gib"],
    ) || is(&["ram", "ram gb", "ram gib", "system ram", "host ram"])
    {
        return Some(Ram);
    }
    if any(head, &["memory"]) || is(&["mem"]) {
        return Some(Memory);
    }
    if any(head, &["接口", "form factor", "封装"])
        || is(&["form", "socket", "gpu form", "gpu.form"])
    {
        return Some(Form);
    }
    if any(
        head,
        &[
            "供应商",
            "厂商",
            "平台",
            "服务商",
            "云厂",
            "报价方",
            "出租方",
            "provider",
            "vendor",
            "supplier",
            "seller",
            "platform",
        ],
    ) || is(&["公司", "cloud", "云", "甲方", "渠道"])
    {
        return Some(Provider);
    }
    if any(
        head,
        &[
            "地域",
            "区域",
            "机房",
            "region",
            "location",
            "数据中心",
            "可用区",
            "zone",
            "datacenter",
            "data center",
        ],
    ) || is(&["地区", "城市", "site", "dc", "所在地"])
    {
        return Some(Region);
    }
    if any(
        head,
        &[
            "备注", "说明", "note", "remark", "comment", "适用", "推荐", "能跑", "场景", "特点",
            "描述",
        ],
    ) || is(&["用途"])
    {
        return Some(Note);
    }
    if any(
        head,
        &[
            "显卡",
            "卡型",
            "gpu",
            "加速卡",
            "算力卡",
            "accelerator",
            "graphics",
            "芯片",
        ],
    ) || is(&["型号", "卡", "model", "card", "产品型号", "规格型号"])
    {
        return Some(Gpu);
    }
    if any(
        head,
        &[
            "机型",
            "实例",
            "规格",
            "instance",
            "sku",
            "flavor",
            "配置",
            "config",
            "服务器",
            "server",
            "machine",
            "node",
            "节点",
            "机器",
        ],
    ) {
        return Some(Instance);
    }
    if any(
        head,
        &[
            "项目",
            "名称",
            "产品",
            "费用项",
            "item",
            "product",
            "description",
            "品名",
            "服务",
            "service",
            "内容",
        ],
    ) || is(&["name", "资源"])
    {
        return Some(Item);
    }
    None
}

fn is_price(t: &str, head: &str) -> bool {
    let words = [
        "价",
        "租金",
        "月租",
        "时租",
        "日租",
        "年租",
        "月费",
        "年费",
        "周租",
        "费用",
        "包月",
        "包年",
        "包日",
        "包周",
        "报价",
        "price",
        "pricing",
        "cost",
        "hourly",
        "monthly",
        "yearly",
        "annual",
        "on-demand",
        "on demand",
        "按量",
        "按需",
        "竞价",
        "抢占",
        "spot",
        "reserved",
        "/hr",
        "/h",
        "/mo",
        "per hour",
        "per month",
        "per gpu-hour",
        "per gpu hour",
        "$",
        "¥",
        "元/",
    ];
    any(head, &words)
        || matches!(
            head,
            "rate" | "fee" | "rent" | "usd" | "cny" | "rmb" | "eur" | "amount" | "usd/hr"
        )
        || head.ends_with(" rate")
        || any(
            t,
            &[
                "元/", "$/", "¥/", "usd/", "usd per", "/hr)", "/h)", "(元)", "(usd)", "(cny)",
                "(¥)", "($)",
            ],
        )
        || lone_term(head)
}

/// A column named after a term alone: `1年`, `3-year`, `12个月`.
fn lone_term(head: &str) -> bool {
    let rest = head.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < head.len()
        && matches!(
            rest.trim_start_matches(['-', ' ']).trim(),
            "年" | "年期"
                | "个月"
                | "year"
                | "years"
                | "yr"
                | "months"
                | "month"
                | "year reserved"
                | "年付"
        )
}
