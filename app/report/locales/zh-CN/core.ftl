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
