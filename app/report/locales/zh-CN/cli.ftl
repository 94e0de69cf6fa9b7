# 命令行：错误、设置、表格。

error-label = 错误：
hint-label = 提示：
hint-help = `lessee --help` 会列出所有命令。
no-command = 没有给出命令
usage-unknown-flag = 这里没有 `{ $flag }`
usage-unknown-command = 没有 `{ $word }` 这个命令
usage-missing = 缺少 { $what }
usage-twice = { $flag } 只能写一次
usage-conflict = { $one } 与 { $other } 互相矛盾
usage-no-value = { $flag } 后面要有一个值
usage-not-utf8 = 命令行不是 UTF-8
usage-unreadable = 命令行无法读懂
usage-help = `{ $command } --help` 列出可用的写法。
json-ends-early = JSON 没有写完：文件被截断了
json-broken = 这不是 JSON
hint-probe-schema = `lessee schema probe` 描述了探测报告的格式。
bug = 这是 lessee { $version } 的缺陷，不是您的错：{ $detail }。请附上 `lessee doctor` 的输出报告给我们。

exit-done = 完成
exit-no = 结论是否定的
exit-usage = 用法或输入有误
exit-unreachable = 无法访问外部，或无法写出结果
exit-credentials = 缺少凭证或凭证被拒绝
exit-budget = 被预算守护停止
exit-preempted = 被抢占且无法继续
exit-cannot-tell = 无法判断
exit-stuck = 卡住后停止
exit-bug = 程序缺陷

file-read = 无法读取 { $path }：{ $detail }
file-write = 无法写入 { $path }：{ $detail }
export-extension = --export { $path }：从扩展名看不出格式
export-onto-input = --export { $path }：该文件是本命令的输入，会被覆盖
table-unknown-column = 这里没有 `{ $key }` 这一列

setting-bad-value = `{ $value }` 不能作为 { $key } 的值
setting-examples = 可用的写法：{ $examples }。
setting-bad-time = `{ $value }` 不是时间：请写成 2026-11-30T12:00:00Z
setting-no-home = 不知道主目录在哪里：请设置 HOME，或 XDG_CONFIG_HOME、XDG_DATA_HOME 和 XDG_CACHE_HOME
setting-file-too-large = { $path } 太大，不像设置文件

yes = 是
no = 否

col-setting = 设置
col-value = 值
col-origin = 来自
col-variable = 环境变量
col-what = 内容
col-path = 路径
col-exists = 存在
col-document = 文档
col-model = 模型
col-kind = 类型
col-params = 参数（1e9）
col-active = 激活（1e9）
col-layers = 层数
col-hidden = 隐藏维
col-context = 上下文
col-check = 检查项
col-result = 结果
col-found = 实际情况

config-title = 生效的设置
config-path-title = 文件和目录
config-remove = 要清除 lessee 保存的一切，请删除 { $catalog }（您自己的价格）和 { $cache }（缓存，可随时重建）。此外不写任何文件。
path-user-config = 您的设置
path-project-config = 项目的设置
path-catalog = 您自己的价格快照
path-cache = 缓存

version-catalog = 价格目录：{ $offers } 条，最新价格日期 { $date }

schema-title = 模式
schema-unknown = 没有名为 `{ $name }` 的模式
schema-workload = 描述任务的文件
schema-plan = plan -o json 的输出
schema-prediction = predict -o json 的结果
schema-prediction-table = predict --table -o json 的结果
schema-import = catalog import -o json 的输出
schema-probe = 在租用机器上的实测
schema-probe-diff = 两份机器报告的对比
schema-buy = buy -o json 的输出
schema-buy-input = buy 的输入文件
schema-why-not = plan --why-not -o json 的输出
schema-catalog = catalog list -o json 的输出
schema-offer = catalog show -o json 的输出
schema-catalog-diff = catalog diff -o json 的输出
schema-catalog-doctor = catalog doctor -o json 的输出
schema-error = 使用 -o json 时标准错误里的内容
schema-models = 已知的模型（表格，不是模式）
models-title = 已知的模型

health-title = 安装检查
health-ok = 正常
health-broken = 有问题
health-version = 版本
health-catalog-folder = 您的价格快照
health-cache-folder = 缓存
health-time = 本地时间
health-language = 语言
health-clock = 时钟
health-key = API 密钥
health-folder = { $path }（{ $state }）
health-there = 存在，可写
health-not-yet = 尚不存在，需要时会建立
health-read-only = 不可写
health-not-a-folder = 该处有一个不是目录的文件
health-catalog = 价格目录
health-snapshots = 快照
health-catalog-state = { $offers } 条，最新价格日期 { $date }（{ $days ->
    [0] 今天
   *[other] { $days } 天前
}）
health-clock-behind = 时钟比最新价格早 { $days } 天：价格的新旧无法判断
health-key-set = 已设置 { $name }（末尾 { $tail }）
health-key-short = 已设置 { $name }，但太短，不像密钥
health-key-unset = 未设置 { $name }
