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
    ($($(#[$doc:meta])* $name:ident: $en:literal, $zh:literal;)*) => {
        /// A fixed text.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each is documented by its English text")]
        pub enum Word { $($(#[$doc])* $name),* }

        impl Word {
            /// The text in a language.
            #[must_use]
            pub fn text(self, lang: Lang) -> &'static str {
                match (self, lang) {
                    $((Self::$name, Lang::En) => $en, (Self::$name, Lang::Zh) => $zh,)*
                }
            }

            /// Every word, for tests.
            pub const ALL: &'static [Word] = &[$(Self::$name),*];
        }
    };
}

words! {
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
    // Heads of what the command prints about snapshots
    RequestedHead: "requested", "已请求";
    PendingHead: "pending free", "等待释放";
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
    DropHere: "Drop a runtime_report.json, a .memscope file or an HTML report here. Nothing leaves this page.", "将 runtime_report.json、.memscope 文件或 HTML 报告拖放到此处。数据不会离开本页面。";
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
    HelpAxis: "axis by event or by step", "按事件或按步显示";
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
