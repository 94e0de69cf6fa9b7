# 工作负载，以及各部分通用的用语。

span-ms = { $n } 毫秒
span-s = { $n } 秒
span-min = { $n } 分
span-min-s = { $m } 分 { $s } 秒
span-h = { $n } 小时
span-h-min = { $h } 小时 { $m } 分
span-d = { $n } 天
span-d-h = { $d } 天 { $h } 小时

error-at = { $place }：{ $problem }
hint-did-you-mean = 您是不是想写 `{ $word }`？
hint-known-words = 这里可用的有：{ $words }。

workload-empty = 工作负载文件是空的
workload-hint-empty = 可以从 `examples/` 里的文件改起，或者用命令行参数给出各字段；`lessee schema workload` 会列出全部字段。
workload-missing = 缺少 `{ $field }`
workload-hint-flag = 请写进文件，或用 { $flag } 给出。
workload-not-positive = `{ $field }` 必须大于零，现在是 { $value }
workload-negative = `{ $field }` 不能为负，现在是 { $value }
workload-bad-value = 这个值不对：{ $detail }
value-wrong-kind = 这里要的是{ $expected }，不是 `{ $found }`
value-number = 数字，如 2.5
value-count = 整数
value-yes-no = true 或 false
value-text = 双引号里的文字
value-list = 方括号里的列表，如 ["a", "b"]
value-pair = 方括号里的两个值，如 [1, 2]
value-section = 单独的一节，每个字段一行
value-nothing = 空
value-size = 大小，如 "500GB"、"1.5TB" 或 "16GiB"
value-time = 时间，如 "2027-01-28"、"2027-01-28T09:00" 或 "2027-01-28T09:00+08:00"
value-duration = 时长，如 "90s"、"30min"、"12h" 或 "30d"
value-amount = 带币种的金额，如 "12.50 USD"
value-field-missing = 这里缺少 `{ $field }`
value-twice = 这里重复了
value-not-a-size = `{ $text }` 不是大小：请写成 `500GB`、`1.5TB` 或 `16GiB`
value-not-a-duration = `{ $text }` 不是时长：请写成 `90s`、`30min`、`12h` 或 `30d`
value-not-a-count = `{ $text }` 不是数量：请写成 `200`、`1.3M` 或 `130万`
value-not-a-share = `{ $text }` 不是 0 到 1 的比例：请写成 `6%` 或 `0.06`
value-share-expected = 这里要的是 0 到 1 的比例，如 `6%` 或 `0.06`
value-negative = `{ $text }` 是负数：这里只能是零或正数
value-not-a-currency = `{ $text }` 不是币种：要写三个字母，如 USD、CNY
value-not-an-amount = `{ $text }` 不是金额：请写成 `12.50 USD`
value-amount-too-large = `{ $text }` 大得不合情理：金额最大 1e15
value-not-a-range = `{ $text }` 不是范围：请写成 `8`、`1..8`、`24GB..80GB` 或 `24GB..`
value-not-a-time = `{ $text }` 不能作为开始时间：请写成 2027-01-28、2027-01-28T09:00 或 2027-01-28T09:00+08:00
value-not-a-date = `{ $text }` 不是日期：请写成 2026-08-03、2026-08 或 2026
value-names-no-gpu = `{ $text }` 没有写出 GPU：请写成 `A100-80GB:8`
toml-unquoted = 文字要放在双引号里
toml-unclosed = 这里的引号或括号没有配对
toml-number = 这不是 TOML 写法的数字
toml-pair = 每行要写成 `名称 = 值`
toml-other = 这不是 TOML
toml-hint = TOML 里一节以 [名称] 开头，下面每行是 `名称 = 值`，文字放在双引号里。
rate-to-itself = 汇率 { $from } 到 { $to } 的两边是同一币种
rate-in-future = 汇率 { $from } 到 { $to } 的日期 { $date } 还没有到
rate-twice = 汇率 { $from } 到 { $to } 写了两次，请只留一个
rate-contradiction = 汇率 { $from } 到 { $to } 写的是 { $rate }，与其他汇率得出的 { $other } 矛盾，请改正其中一个
workload-unknown-field = 没有 `{ $field }` 这个字段
workload-unknown-word = 这里不能写 `{ $field }`
workload-unknown-gpu = 没有名为 `{ $name }` 的 GPU
workload-unknown-model = 没有名为 `{ $name }` 的模型
workload-hint-custom-model = `lessee schema models` 会列出已知的模型；其他模型请写 model = "custom"，并在 [model] 段给出它的尺寸。
workload-licence-price = 第 { $index } 个许可证（`{ $name }`）只能有一种价格：per_node_hour 或 per_node_month
workload-bad-location = `{ $value }` 不是一个地点：请写 `office`、`internet`，或“供应商:地域”，例如 `aws:us-east-1`
workload-min-over-max = min_nodes（{ $min }）大于 max_nodes（{ $max }）
workload-bad-rate = 从 { $from } 到 { $to } 的汇率必须大于零
workload-wrong-section = 文件里有 [{ $section }] 段，但 kind 是 `{ $kind }`

purchase-on-demand = 按需
purchase-spot = 抢占式
purchase-month = 包月
purchase-year-1 = 包 1 年
purchase-year-3 = 包 3 年
purchase-mix = 组合

confidence-verified = 已核实
confidence-secondary = 第三方来源
confidence-general = 常识
confidence-unverified = 未核实

basis-measured = 实测
basis-quoted = 报价
basis-published = 公布
basis-modelled = 推算
basis-assumed = 假设

table-hidden-columns = 宽度不够，没有显示：{ $columns }。放宽终端，或用 --columns、-o csv 查看。
table-more-json = 另有 { $n } 行：-o json 给出全部。
table-more = 另有 { $n } 行：用 --limit N 或 --all 查看，或用 -o csv 导出全部。

line-compute = 计算
line-boot = 开机
line-setup = 准备
line-idle = 闲置
line-block-storage = 块存储
line-object-storage = 对象存储
line-requests = 请求
line-ingress = 数据流入
line-cross-region = 跨地域流量
line-egress = 数据流出
line-public-ip = 公网 IP
line-interruption = 中断
line-commitment-unused = 未用完的承诺
line-support = 技术支持
line-labour = 人工
line-licence = 许可证
line-tax = 税
line-exchange = 换汇

bound-compute = 算力
bound-memory-bandwidth = 显存带宽
bound-gradient-sync = 梯度同步
bound-cpu-feed = CPU 供数
bound-storage-feed = 存储供数
bound-network = 网络
workload-out-of-range = `{$field}` 必须在 {$least} 与 {$most} 之间，而不是 {$value}
workload-too-large = `{$field}` = {$value} 过大，不可能是真实任务
