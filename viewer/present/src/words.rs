//! Every fixed text of the interface, in English and Chinese.

/// A language of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese, simplified.
    Zh,
}

impl Lang {
    /// From a BCP 47 tag: `zh`, `zh-CN`, `zh_CN.UTF-8`, ... are Chinese, all else English.
    #[must_use]
    pub fn of_tag(tag: &str) -> Self {
        if tag.get(..2).is_some_and(|t| t.eq_ignore_ascii_case("zh")) {
            Self::Zh
        } else {
            Self::En
        }
    }

    /// The tag for `lang` attributes.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-CN",
        }
    }
}

macro_rules! words {
    (
        always { $($(#[$doc:meta])* $name:ident: $en:literal, $zh:literal;)* }
        snapshot { $($own:ident: $own_en:literal, $own_zh:literal;)* }
    ) => {
        /// A fixed text.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each is documented by its English text")]
        pub enum Word {
            $($(#[$doc])* $name,)*
            $(#[cfg(feature = "snapshot")] $own,)*
        }

        impl Word {
            /// The text in a language.
            #[must_use]
            pub fn text(self, lang: Lang) -> &'static str {
                match (self, lang) {
                    $((Self::$name, Lang::En) => $en, (Self::$name, Lang::Zh) => $zh,)*
                    $(
                        #[cfg(feature = "snapshot")]
                        (Self::$own, Lang::En) => $own_en,
                        #[cfg(feature = "snapshot")]
                        (Self::$own, Lang::Zh) => $own_zh,
                    )*
                }
            }

            /// Every word, for tests.
            pub const ALL: &'static [Word] = &[
                $(Self::$name,)*
                $(#[cfg(feature = "snapshot")] Self::$own,)*
            ];
        }
    };
}

words! {
always {
    ProfilerTimeline: "Profiler timeline", "分析器时间线";
    Compare: "Compare", "对比";
    // Views
    Timeline: "Timeline", "时间线";
    Phases: "Phases", "阶段";
    TopEvents: "Top events", "峰值事件";
    Modules: "Modules", "模块";
    Tensors: "Tensors", "张量";
    About: "About this report", "关于本报告";
    Steps: "Steps", "训练步";
    Holders: "What holds the peak", "峰值由什么占用";
    Findings: "What memory does from step to step", "显存逐步变化";
    Live: "What is live", "存活的显存";
    AllocatorState: "Allocator state", "分配器状态";
    Entries: "Allocator events", "分配器事件";
    Lifetimes: "Lifetimes", "生命周期";
    SourceLines: "Source lines", "源代码行";
    // Figures and columns
    Allocated: "allocated", "已分配";
    Reserved: "reserved", "已保留";
    HighWater: "max allocated (high-water mark)", "最大已分配（历史峰值）";
    Module: "module", "模块";
    Phase: "phase", "阶段";
    Type: "type", "类型";
    Step: "step", "步";
    StepsColumn: "steps", "步范围";
    Event: "event", "事件";
    Count: "events", "事件数";
    AllocatedAfter: "allocated after", "事件后已分配";
    AllocatedBefore: "allocated before", "事件前已分配";
    ReservedAfter: "reserved after", "事件后已保留";
    MaxAllocated: "max allocated", "最大已分配";
    MaxAllocatedAfter: "max allocated after", "事件后最大已分配";
    MaxReserved: "max reserved", "最大已保留";
    DeltaAllocated: "Δ allocated", "已分配增量";
    DeltaReserved: "Δ reserved", "已保留增量";
    MaxDelta: "max Δ allocated", "最大已分配增量";
    SumDelta: "sum of Δ allocated", "已分配增量之和";
    TotalDelta: "total Δ allocated", "已分配总增量";
    OutputBytes: "outputs", "输出字节";
    GradBytes: "gradients", "梯度字节";
    Share: "share", "占比";
    Unpaired: "unpaired", "未配对";
    Notes: "notes", "备注";
    Partner: "partner", "配对事件";
    Role: "role", "角色";
    Shape: "shape", "形状";
    Dtype: "dtype", "数据类型";
    Device: "device", "设备";
    Name: "name", "名称";
    Size: "size", "大小";
    Times: "times", "次数";
    RequiresGrad: "requires grad", "需要梯度";
    Input: "input", "输入";
    Output: "output", "输出";
    Gradient: "gradient", "梯度";
    Part: "part", "部分";
    Bytes: "bytes", "字节";
    Key: "field", "字段";
    Value: "value", "值";
    What: "what", "内容";
    FirstOffset: "first at byte", "首个字节偏移";
    StepStart: "allocated at start", "开始时已分配";
    StepEnd: "allocated at end", "结束时已分配";
    StepPeak: "highest sample", "最高采样";
    Total: "total", "合计";
    MissingPartner: "missing", "缺失";
    Unknown: "unknown", "未知";
    // Controls
    Rank: "rank", "进程";
    ByEvent: "by event", "按事件";
    ByStep: "by step", "按步";
    ZoomIn: "Zoom in", "放大";
    ZoomOut: "Zoom out", "缩小";
    ZoomAll: "Show all", "全部显示";
    Search: "Search modules, phases, notes", "搜索模块、阶段、备注";
    AllSteps: "all steps", "所有步";
    AllPhases: "all phases", "所有阶段";
    AllTypes: "all types", "所有类型";
    EachEvent: "one row per event", "每个事件一行";
    Tree: "tree", "树";
    Flat: "flat", "平铺";
    ExpandAll: "Expand all", "全部展开";
    CollapseAll: "Collapse all", "全部折叠";
    Export: "Export", "导出";
    CopyMarkdown: "Copy as Markdown", "复制为 Markdown";
    CopyLink: "Copy link to this view", "复制此视图链接";
    Copied: "Copied", "已复制";
    CopyFailed: "The browser refused the clipboard", "浏览器拒绝访问剪贴板";
    Theme: "Light or dark", "浅色或深色";
    Language: "中文", "English";
    Help: "Keyboard", "键盘";
    Close: "Close", "关闭";
    Rows: "rows", "行";
    Row: "row", "行";
    OpenFile: "Open a report", "打开报告";
    DropHere: "Drop a PyTorch memory snapshot, a runtime_report.json, a .memscope file or an HTML report here. Nothing leaves this page.", "将 PyTorch 显存快照、runtime_report.json、.memscope 文件或 HTML 报告拖放到此处。数据不会离开本页面。";
    Reading: "Reading", "正在读取";
    NothingFound: "Nothing matches. Clear the search or the filters.", "没有匹配项。请清除搜索或筛选条件。";
    NoEvents: "This report has no events.", "此报告没有事件。";
    NoTensors: "No event of this report names a tensor.", "此报告没有记录张量。";
    Skip: "Skip to content", "跳到内容";
    // Help sheet
    HelpViews: "go to a view", "切换视图";
    HelpSearch: "search events", "搜索事件";
    HelpZoom: "zoom in, zoom out, show all", "放大、缩小、全部显示";
    HelpPan: "on the chart: previous or next event; with Shift: pan", "图表上：上一个/下一个事件；按住 Shift：平移";
    HelpPin: "on the chart: pin the event under the cursor; in a table: select the row", "图表上：固定当前事件；表格中：选择该行";
    HelpRows: "in a table: move between rows", "表格中：移动行";
    HelpTree: "in the tree: open or close a module", "树中：展开或折叠模块";
    HelpAxis: "axis by event, by step or by time", "按事件、步或时间显示";
    HelpRank: "previous or next rank", "上一个/下一个进程";
    HelpTheme: "light or dark", "浅色或深色";
    HelpLang: "English or Chinese", "中文或英文";
    HelpEscape: "close, clear the selection", "关闭、清除选择";
    HelpThis: "this sheet", "本帮助";
    // About
    Metadata: "What the run says of itself", "运行自述";
    Comparisons: "Comparisons in the file", "文件中的对比";
    RecordedPeak: "The file's own peak (highest sample)", "文件自己的峰值（最高采样）";
    Skipped: "What could not be used", "未能使用的内容";
    NothingSkipped: "Everything in the input was used.", "输入的全部内容均已使用。";
    FileSize: "This file, by part", "本文件各部分大小";
    FormatVersion: "container format", "容器格式版本";
    Source: "source", "来源";
    Generator: "written by", "生成程序";
    Checksum: "CRC-32 of the source", "来源 CRC-32";
    Pairs: "pre/post pairs", "前后配对";
    LonePre: "events without the event that should follow", "缺少后续事件的事件";
    LonePost: "events without the event that should precede", "缺少前置事件的事件";
    PartViewer: "viewer (program)", "查看器（程序）";
    PartGlue: "viewer (glue and style)", "查看器（胶水与样式）";
    PartStatic: "static part", "静态部分";
    PartData: "data", "数据";
    StaticNote: "Static part of a MemScope report. Where this line stays, the interactive part is missing because scripts are blocked or switched off: download the file and open it in a browser.", "MemScope 报告的静态部分。若此行一直显示，则因脚本被阻止或关闭而缺少交互部分：请下载该文件并用浏览器打开。";
    TopNote: "the 20 places with most allocated", "已分配最多的 20 处";
    ModulesNote: "the 40 modules that added most", "增量最大的 40 个模块";
}
snapshot {
    // Snapshots: what is live, lifetimes, lines
    Instant: "Instant", "时刻";
    AtPeak: "Peak", "峰值";
    AtEnd: "End", "结束";
    AtOom: "Out of memory", "显存不足";
    AtStart: "Start", "开始";
    GroupBy: "Group by", "分组";
    ByStack: "stack", "调用栈";
    ByLine: "line", "代码行";
    ByFunction: "function", "函数";
    ByCategory: "category", "类别";
    ByPool: "pool", "内存池";
    ByStream: "stream", "流";
    ShowAs: "Show as", "显示方式";
    AsTable: "table", "表格";
    AsFlame: "flame graph", "火焰图";
    AsTree: "treemap", "矩形树图";
    RootFirst: "from main down", "从入口向下";
    LeafFirst: "from the allocation up", "从分配处向上";
    FoldFrames: "hide frames of torch and C++", "隐藏 torch 与 C++ 帧";
    Reset: "Reset zoom", "重置缩放";
    Everything: "everything live", "全部存活";
    Place: "line", "代码行";
    FunctionName: "function", "函数";
    FilePath: "file", "文件";
    Allocations: "allocations", "分配数";
    HowMany: "count", "数量";
    Innermost: "innermost outside torch", "torch 之外最内层";
    Largest: "largest", "最大";
    Category: "category", "类别";
    Categories: "Categories", "类别";
    HowSure: "how sure", "确定程度";
    Why: "why", "依据";
    Parameters: "parameters", "参数";
    Gradients: "gradients", "梯度";
    OptimizerState: "optimizer state", "优化器状态";
    Activations: "activations", "激活";
    Temporary: "temporary", "临时";
    Inputs: "inputs", "输入数据";
    Stated: "stated", "明确";
    Likely: "likely", "很可能";
    Possible: "possible", "可能";
    NotRecorded: "stack not recorded", "未记录调用栈";
    NoPythonFrame: "no Python frame was recorded", "未记录 Python 帧";
    NoStackOrFrames: "stack not recorded, or no Python frame in it", "未记录调用栈，或其中没有 Python 帧";
    Stream: "stream", "流";
    Pool: "pool", "内存池";
    DefaultPool: "default pool", "默认内存池";
    Own: "here itself", "自身";
    Depth: "depth", "深度";
    Born: "allocated at", "分配于";
    AgeEvents: "age, events", "存活事件数";
    AgeSteps: "age, steps", "存活步数";
    BeforeHistory: "before the history", "记录之前";
    WholeStack: "Whole stack", "完整调用栈";
    LargestHere: "Largest allocations of this group", "该组中最大的分配";
    PickNotLive: "What is picked does not live at this instant.", "所选内容此刻不存活。";
    PickGroup: "Select a row for its stack and its largest allocations.", "选择一行以查看其调用栈和最大的分配。";
    NoFrames: "No stack was recorded: the memory is from before the history began, or was allocated by C++ without a Python frame, as in the backward pass.", "未记录调用栈：显存来自记录开始之前，或由没有 Python 帧的 C++ 分配（例如反向传播）。";
    FlameHint: "Arrow keys move, Enter or a click zooms in, Backspace zooms out.", "方向键移动，回车或单击放大，退格键返回。";
    TreeHint: "Arrow keys move, Enter or a click selects.", "方向键移动，回车或单击选择。";
    NothingLive: "Nothing is live at this instant.", "此刻没有存活的分配。";
    WhyStated: "the snapshot says so", "快照中已写明";
    WhyParameter: "allocated while a module was built, loaded or moved, and kept", "在模块构建、加载或移动时分配并保留";
    WhyGradient: "allocated in the backward pass and alive when the optimizer works", "在反向传播中分配，并存活到优化器执行";
    WhyGradientMaybe: "allocated without a Python frame, as the backward pass does, and alive at the end", "分配时没有 Python 帧（如反向传播），且结束时仍存活";
    WhyOptimizer: "allocated in torch.optim and kept: alive in the next backward pass, or at the end", "在 torch.optim 中分配并保留：下一次反向传播时或结束时仍存活";
    WhyOptimizerMaybe: "allocated in torch.optim before the history began", "记录开始前在 torch.optim 中分配";
    WhyActivation: "allocated under a forward and alive when the backward pass begins", "在 forward 中分配，反向传播开始时仍存活";
    WhyActivationMaybe: "allocated under a forward that the end or an out-of-memory error cut short, or in your code between forward and backward", "在 forward 中分配但随后记录结束或显存不足，或在前向与反向传播之间由用户代码分配";
    WhyTemporary: "freed within the pass that allocated it, or a library's workspace", "在分配它的同一阶段内释放，或为库的工作区";
    WhyTemporaryMaybe: "freed again: in the backward pass, while a module was built, or late after a forward", "已释放：在反向传播中、构建模块时，或在 forward 之后较晚";
    WhyInput: "allocated where data is moved to the device, or in your code before a forward pass", "在数据移到设备处分配，或在前向传播之前由用户代码分配";
    WhyUnknown: "neither place nor lifetime tells, or it stays after the pass that made it", "位置与生命周期均无法判断，或在产生它的阶段之后仍保留";
    Survivors: "What stays from step to step", "逐步留存";
    LongPending: "Freed, but waiting for another stream", "已释放但等待其他流";
    ShortLived: "Large and short-lived", "大而短暂";
    KeepSteps: "alive after at least so many more steps", "至少再存活的步数";
    PerStep: "growth per step", "每步增长";
    InSteps: "in steps", "出现步数";
    OfSteps: "of steps", "考察步数";
    Since: "since step", "始于步";
    AliveAtEnd: "still growing", "仍在增长";
    Yes: "yes", "是";
    No: "no", "否";
    WaitedEvents: "events waited", "等待事件数";
    StillWaits: "still waits", "仍在等待";
    AllBytes: "all together", "合计字节";
    Current: "current", "当前";
    LinePeak: "peak", "峰值";
    AllocatedSum: "allocated in all", "累计分配";
    FreedSum: "freed in all", "累计释放";
    LibraryLines: "lines of libraries, torch and C++", "库、torch 与 C++ 的行";
    ByFile: "by file", "按文件";
    PerLine: "by line", "按行";
    LiveNow: "live", "存活数";
    LinesAt: "Memory by line of code, up to this instant. Your own code first; then libraries, torch and C++.", "截至此刻按代码行统计的显存。先列出自己的代码，其后为库、torch 与 C++。";
    FlameTable: "Frames", "帧";
    // Memory over time
    Inconsistent: "What does not fit together, and what the history does not know", "不一致之处与历史未知之处";
    AllocatorSettings: "Allocator settings", "分配器设置";
    NoHistoryHere: "No history was recorded: there are no events.", "没有记录历史：没有事件。";
    MemoryOverTime: "Memory over time", "显存随时间变化";
    ByTime: "by time", "按时间";
    Requested: "requested", "已请求";
    Lifetime: "lifetime", "生命周期";
    FreedAt: "freed at", "释放于";
    FreedBy: "freed by", "释放者";
    NeverFreed: "alive at the end of the history", "历史结束时仍存活";
    PendingUntil: "waited for another stream until", "等待其他流直至";
    RoundedTo: "block of", "块大小";
    AtInstant: "Look at this instant", "查看此刻";
    WhenAllocated: "When it was allocated", "分配时";
    WhenFreed: "When it was freed", "释放时";
    SameStack: "All of this stack", "同一调用栈的全部";
    InSegment: "reserved range", "保留区间";
    Action: "action", "动作";
    Address: "address", "地址";
    Time: "time", "时间";
    Entry: "entry", "条目";
    Allocation: "allocation", "分配";
    Annotation: "annotation", "标注";
    SearchEntries: "Search stacks, addresses, annotations, names", "搜索调用栈、地址、标注、名称";
    AllActions: "all actions", "所有动作";
    MinSize: "at least", "不小于";
    MaxSize: "at most", "不大于";
    ShowState: "Show the allocator's state here", "显示此处的分配器状态";
    Metadata2: "user metadata", "用户元数据";
    // Heads of what the command prints about snapshots
    FreeHead: "free", "空闲";
    FreedHead: "freed", "已释放";
    LargestFreeHead: "largest free", "最大空闲块";
    RoundingHead: "rounding", "取整损失";
    SegmentsHead: "segments", "段数";
    BlocksHead: "blocks", "块数";
    PoolHead: "pool", "内存池";
    StreamHead: "stream", "流";
    StateHead: "state", "状态";
    AddressHead: "address", "地址";
    BornHead: "born", "分配于";
    FreedAtHead: "freed at", "释放于";
    LifetimeHead: "lifetime (ns)", "生命周期（纳秒）";
    EntriesHead: "entries", "条目数";
    CategoryHead: "category", "类别";
    CertaintyHead: "how sure", "可信度";
    LineHead: "line", "行";
    StackHead: "stack", "调用栈";
    FramesHead: "frames", "栈帧";
    FunctionHead: "function", "函数";
    CurrentHead: "current", "当前";
    PeakHead: "peak", "峰值";
    AllocationsHead: "allocations", "分配数";
    LargestHead: "largest", "最大一个";
    WhichHead: "which", "哪一个";
    EntryHead: "entry", "条目";
    TimeHead: "time (ns)", "时间（纳秒）";
    ActionHead: "action", "动作";
    DeviceFreeHead: "device free", "设备空闲";
    MetadataHead: "metadata", "元数据";
    CompileHead: "compile context", "编译上下文";
    SegmentHead: "segment", "段";
    BlockHead: "block", "块";
    // The allocator's state
    InUse: "allocated", "已分配";
    PendingFree: "pending free", "等待释放";
    Free: "free", "空闲";
    RoundingLoss: "rounding loss", "取整损失";
    FreeKept: "free beside live blocks", "与存活块同段的空闲";
    FreeReturnable: "free, can go back", "可归还的空闲";
    LargestFree: "largest free block", "最大空闲块";
    InactiveSplit: "inactive split", "非活跃分裂块";
    ReservedMeans: "all segments, taken from the device", "从设备取得的所有段";
    InUseMeans: "blocks that the program holds", "程序持有的块";
    PendingMeans: "freed by the program, but another stream may still use them", "程序已释放，但其他流可能仍在使用";
    RequestedMeans: "what the program asked for, of blocks allocated and pending free", "程序请求的字节数（已分配与等待释放的块）";
    RoundingMeans: "bytes of those blocks beyond what was asked for", "这些块中超出请求的字节";
    FreeKeptMeans: "cannot go back to the device: something lives in the same segment", "无法归还设备：同一段中有存活的块";
    FreeReturnableMeans: "torch.cuda.empty_cache() would give it back", "torch.cuda.empty_cache() 可归还";
    LargestFreeMeans: "a larger request needs a new segment", "更大的请求需要新段";
    InactiveSplitMeans: "torch's inactive_split_bytes: free parts of split segments", "即 inactive_split_bytes：已分裂段中的空闲部分";
    NotInHistory: "not in the history", "不在历史记录中";
    PoolNotRecorded: "pool not recorded", "未记录内存池";
    CategoryUnknown: "unknown purpose", "用途未知";
    AllPools: "all pools and streams", "所有内存池和流";
    FromBefore: "before the history", "历史记录之前";
    NothingPinned: "No free memory is kept by live blocks.", "没有空闲显存被存活的块占住。";
    Blocks: "blocks", "块数";
    Segment: "segment", "段";
    PoolColumn: "pool", "内存池";
    StreamColumn: "stream", "流";
    ReservedAt: "reserved at", "保留于";
    ReservedBy: "reserved by", "保留位置";
    SmallPool: "small", "小";
    LargePool: "large", "大";
    Expandable: "expandable", "可扩展";
    HeldFree: "free, held", "被占住的空闲";
    KeptBy: "live, keeps it", "占住它的存活字节";
    LargestBlock: "largest block", "最大的块";
    CategoryColumn: "category", "类别";
    AllocatedAt: "allocated at", "分配于";
    AllocatedBy: "allocated by", "分配位置";
    Pins: "What keeps free memory reserved", "什么占住了空闲显存";
    Segments: "Segments", "段";
    FirstInstant: "Before the first event", "首个事件之前";
    LastInstant: "After the last event", "最后事件之后";
    PreviousEvent: "Previous event", "上一个事件";
    NextEvent: "Next event", "下一个事件";
    PreviousSegmentEvent: "Previous segment event", "上一个段事件";
    NextSegmentEvent: "Next segment event", "下一个段事件";
    Play: "Play", "播放";
    Pause: "Pause", "暂停";
    AtThePeak: "peak", "峰值";
    AtTheOom: "out of memory", "显存不足";
    BySize: "by size", "按大小";
    ByAddress: "by address", "按地址";
    PoolsApart: "by pool and stream", "按内存池和流";
    RowIs: "a full row is", "整行为";
    StateKeys: "Arrow keys move between blocks, Enter picks one; , and . go to the segment events, Page Up and Page Down by 1 %.", "方向键在块之间移动，Enter 选中；, 和 . 跳到段事件，Page Up 和 Page Down 移动 1 %。";
    NoSegments: "Nothing is reserved at this instant.", "此刻没有保留的显存。";
    // Two recordings side by side
    DiffStatus: "change", "变化";
    DiffPlace: "place", "位置";
    DiffA: "A", "A";
    DiffB: "B", "B";
    DiffDelta: "B − A", "B − A";
    DiffShare: "B / A − 1", "B / A − 1";
    DiffCountA: "allocations A", "A 分配数";
    Recorded: "recorded", "已记录";
    WhyRecorded: "the recorder knew the tensor by name and address", "记录器已知该张量的名称与地址";
    Standing: "state", "状态";
    StepTime: "step time", "步时间";
    DriverSays: "driver says", "驱动报告";
    FailedRequests: "OOMs", "OOM 次数";
    LastRecord: "last record", "最后记录";
    DeviceMemory: "Device memory", "设备显存";
    ByName: "By name", "按名称";
    DeviceUsed: "device used", "设备已用";
    AllocatorReserved: "allocator, reserved", "分配器已保留";
    DriverContext: "CUDA context", "CUDA 上下文";
    OtherProcesses: "other processes", "其他进程";
    OtherLibraries: "other libraries", "其他库";
    DriverRest: "rest", "其余";
    Holder: "held by", "占用者";
    Kind: "kind", "种类";
    OptimizerEntry: "entry", "条目";
    StorageSize: "storage", "存储";
    SharedStorage: "sharing a storage", "共享存储";
    PeakAllocated: "peak allocated", "已分配峰值";
    PeakReserved: "peak reserved", "已保留峰值";
    Begins: "begins at", "开始于";
    Lasts: "lasts", "持续";
    RanksCompared: "Ranks", "各进程";
    Recording: "Recording", "记录";
    SumsByKind: "By name, by kind", "按名称，按种类";
    SumsByModule: "By name, by kind and module", "按名称，按种类与模块";
    DeviceOverTime: "Device memory over time", "设备显存随时间变化";
    DiffCountB: "allocations B", "B 分配数";
    DiffMatch: "matched", "匹配方式";
    DiffFigure: "figure", "指标";
    DiffEventsA: "events A", "A 事件数";
    DiffEventsB: "events B", "B 事件数";
    DiffAddedA: "added A", "A 增量";
    DiffAddedB: "added B", "B 增量";
    DiffAddedDelta: "added B − A", "增量 B − A";
    DiffHighestA: "highest A", "A 最高";
    DiffHighestB: "highest B", "B 最高";
    DiffHighest: "highest B − A", "最高 B − A";
    DiffEndA: "at end A", "A 结束时";
    DiffEndB: "at end B", "B 结束时";
    DiffEndDelta: "at end B − A", "结束时 B − A";
    DiffNew: "new", "新增";
    DiffGone: "gone", "消失";
    DiffGrown: "grown", "增长";
    DiffShrunk: "shrunk", "减少";
    DiffSame: "same", "相同";
    DiffMoved: "line moved", "行号已变";
    DiffRenamed: "a function has another name", "函数改名";
    DiffInner: "the innermost frames are the same", "最内层帧相同";
    DiffAlike: "by sizes, order and category", "按大小、次序与类别";
    DiffFolded: "torch or native frames differ", "torch 或本地帧不同";
    DiffFigures: "Peaks and ends", "峰值与结束值";
    DiffParts: "Parts of the peaks", "峰值的组成";
    DiffByLine: "by source line", "按源代码行";
    DiffByFunction: "by function", "按函数";
    DiffByStack: "by stack", "按调用栈";
    DiffByCategory: "by category", "按类别";
    DiffTree: "Signed flame graph", "差异火焰图";
    DiffTreeNote: "A box is as wide as the larger side, ▲ (orange) grew, ▼ (blue) shrank, = (grey) did not change.", "方框宽度取两侧较大者；▲（橙）增长，▼（蓝）减少，=（灰）不变。";
    DiffAll: "all changes", "全部变化";
    DiffClose: "Close comparison", "关闭对比";
    DiffOnlyB: "Show B alone", "仅显示 B";
    DiffSwap: "Swap A and B", "交换 A 与 B";
    DiffWith: "compare with", "对比";
    DiffNothing: "nothing", "无";
    DiffAtA: "A at", "A 时刻";
    DiffAtB: "B at", "B 时刻";
    DiffWhole: "Show whole tree", "显示整棵树";
    DiffFold: "fold torch and native frames", "折叠 torch 与本地帧";
    DiffRoot: "from main", "从入口";
    DiffLeaf: "from the allocation", "从分配处";
    // Keys of snapshots
    HelpBlocks: "allocator state: move between blocks, pick one", "分配器状态：在块之间移动、选择块";
    HelpStateEvent: "allocator state: previous or next event", "分配器状态：上一个/下一个事件";
    HelpStateSegment: "allocator state: previous or next segment event", "分配器状态：上一个/下一个段事件";
    HelpStatePercent: "allocator state: by 1 % of the history, to its start or end", "分配器状态：移动历史的 1 %，到开头或结尾";
    HelpPlay: "on the slider of the allocator state: play or pause", "分配器状态的滑块上：播放或暂停";
    HelpFlame: "flame graph: move between frames, zoom to one, out to its caller, out to all", "火焰图：在帧之间移动、放大、回到调用者、全部显示";
    HelpDevice: "next device of the snapshot", "快照中的下一个设备";
    AutogradDetail: "autograd detail", "自动求导细节";
}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_said_in_both_languages() {
        for word in Word::ALL {
            assert!(!word.text(Lang::En).is_empty() && !word.text(Lang::Zh).is_empty());
        }
        assert_eq!(Lang::of_tag("zh-TW"), Lang::Zh);
        assert_eq!(Lang::of_tag("de"), Lang::En);
        assert_eq!(Lang::of_tag(""), Lang::En);
    }
}
