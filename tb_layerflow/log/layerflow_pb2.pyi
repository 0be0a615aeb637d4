from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Stamp(_message.Message):
    __slots__ = ("schema", "stream", "session", "session_start", "index", "trace", "version")
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SESSION_START_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    schema: int
    stream: str
    session: int
    session_start: int
    index: int
    trace: int
    version: str
    def __init__(self, schema: _Optional[int] = ..., stream: _Optional[str] = ..., session: _Optional[int] = ..., session_start: _Optional[int] = ..., index: _Optional[int] = ..., trace: _Optional[int] = ..., version: _Optional[str] = ...) -> None: ...

class Graph(_message.Message):
    __slots__ = ("stamp", "structure_blobs", "model", "layers", "calls", "ledger", "execution", "class_names", "backward_names", "error_pass", "ops", "stacks", "frames", "strings", "source")
    STAMP_FIELD_NUMBER: _ClassVar[int]
    STRUCTURE_BLOBS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    LEDGER_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    CLASS_NAMES_FIELD_NUMBER: _ClassVar[int]
    BACKWARD_NAMES_FIELD_NUMBER: _ClassVar[int]
    ERROR_PASS_FIELD_NUMBER: _ClassVar[int]
    OPS_FIELD_NUMBER: _ClassVar[int]
    STACKS_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    stamp: Stamp
    structure_blobs: int
    model: str
    layers: _containers.RepeatedCompositeFieldContainer[Layer]
    calls: _containers.RepeatedCompositeFieldContainer[Call]
    ledger: _containers.RepeatedCompositeFieldContainer[LedgerEntry]
    execution: Execution
    class_names: _containers.RepeatedScalarFieldContainer[str]
    backward_names: _containers.RepeatedScalarFieldContainer[str]
    error_pass: str
    ops: _containers.RepeatedCompositeFieldContainer[Op]
    stacks: _containers.RepeatedCompositeFieldContainer[Stack]
    frames: _containers.RepeatedCompositeFieldContainer[Frame]
    strings: _containers.RepeatedScalarFieldContainer[str]
    source: _containers.RepeatedCompositeFieldContainer[SourceLine]
    def __init__(self, stamp: _Optional[_Union[Stamp, _Mapping]] = ..., structure_blobs: _Optional[int] = ..., model: _Optional[str] = ..., layers: _Optional[_Iterable[_Union[Layer, _Mapping]]] = ..., calls: _Optional[_Iterable[_Union[Call, _Mapping]]] = ..., ledger: _Optional[_Iterable[_Union[LedgerEntry, _Mapping]]] = ..., execution: _Optional[_Union[Execution, _Mapping]] = ..., class_names: _Optional[_Iterable[str]] = ..., backward_names: _Optional[_Iterable[str]] = ..., error_pass: _Optional[str] = ..., ops: _Optional[_Iterable[_Union[Op, _Mapping]]] = ..., stacks: _Optional[_Iterable[_Union[Stack, _Mapping]]] = ..., frames: _Optional[_Iterable[_Union[Frame, _Mapping]]] = ..., strings: _Optional[_Iterable[str]] = ..., source: _Optional[_Iterable[_Union[SourceLine, _Mapping]]] = ...) -> None: ...

class Layer(_message.Message):
    __slots__ = ("path", "name", "type", "weights", "called", "trainable", "access", "config", "module", "dtype_policy")
    PATH_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    CALLED_FIELD_NUMBER: _ClassVar[int]
    TRAINABLE_FIELD_NUMBER: _ClassVar[int]
    ACCESS_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    MODULE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_POLICY_FIELD_NUMBER: _ClassVar[int]
    path: str
    name: str
    type: str
    weights: _containers.RepeatedCompositeFieldContainer[Weight]
    called: bool
    trainable: bool
    access: str
    config: str
    module: str
    dtype_policy: str
    def __init__(self, path: _Optional[str] = ..., name: _Optional[str] = ..., type: _Optional[str] = ..., weights: _Optional[_Iterable[_Union[Weight, _Mapping]]] = ..., called: bool = ..., trainable: bool = ..., access: _Optional[str] = ..., config: _Optional[str] = ..., module: _Optional[str] = ..., dtype_policy: _Optional[str] = ...) -> None: ...

class Weight(_message.Message):
    __slots__ = ("name", "shape", "dtype", "trainable")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    TRAINABLE_FIELD_NUMBER: _ClassVar[int]
    name: str
    shape: Shape
    dtype: str
    trainable: bool
    def __init__(self, name: _Optional[str] = ..., shape: _Optional[_Union[Shape, _Mapping]] = ..., dtype: _Optional[str] = ..., trainable: bool = ...) -> None: ...

class Shape(_message.Message):
    __slots__ = ("dims", "unknown_rank")
    DIMS_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_RANK_FIELD_NUMBER: _ClassVar[int]
    dims: _containers.RepeatedScalarFieldContainer[int]
    unknown_rank: bool
    def __init__(self, dims: _Optional[_Iterable[int]] = ..., unknown_rank: bool = ...) -> None: ...

class Call(_message.Message):
    __slots__ = ("path", "name", "type", "kind", "layer", "parent", "inputs", "outputs", "status", "repeats", "failed", "training", "flops", "output_bytes", "traced_inside")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LAYER: _ClassVar[Call.Kind]
        OPERATION: _ClassVar[Call.Kind]
        INPUT: _ClassVar[Call.Kind]
        TAP: _ClassVar[Call.Kind]
        FUNCTION: _ClassVar[Call.Kind]
    LAYER: Call.Kind
    OPERATION: Call.Kind
    INPUT: Call.Kind
    TAP: Call.Kind
    FUNCTION: Call.Kind
    PATH_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    TRAINING_FIELD_NUMBER: _ClassVar[int]
    FLOPS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    TRACED_INSIDE_FIELD_NUMBER: _ClassVar[int]
    path: str
    name: str
    type: str
    kind: Call.Kind
    layer: int
    parent: int
    inputs: _containers.RepeatedCompositeFieldContainer[Port]
    outputs: _containers.RepeatedCompositeFieldContainer[Port]
    status: str
    repeats: int
    failed: bool
    training: bool
    flops: float
    output_bytes: int
    traced_inside: bool
    def __init__(self, path: _Optional[str] = ..., name: _Optional[str] = ..., type: _Optional[str] = ..., kind: _Optional[_Union[Call.Kind, str]] = ..., layer: _Optional[int] = ..., parent: _Optional[int] = ..., inputs: _Optional[_Iterable[_Union[Port, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[Port, _Mapping]]] = ..., status: _Optional[str] = ..., repeats: _Optional[int] = ..., failed: bool = ..., training: bool = ..., flops: _Optional[float] = ..., output_bytes: _Optional[int] = ..., traced_inside: bool = ...) -> None: ...

class Port(_message.Message):
    __slots__ = ("key", "shape", "dtype", "kind", "source", "status", "error", "op", "selected", "derived")
    KEY_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    SELECTED_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FIELD_NUMBER: _ClassVar[int]
    key: str
    shape: Shape
    dtype: str
    kind: str
    source: Source
    status: str
    error: str
    op: str
    selected: bool
    derived: _containers.RepeatedCompositeFieldContainer[Source]
    def __init__(self, key: _Optional[str] = ..., shape: _Optional[_Union[Shape, _Mapping]] = ..., dtype: _Optional[str] = ..., kind: _Optional[str] = ..., source: _Optional[_Union[Source, _Mapping]] = ..., status: _Optional[str] = ..., error: _Optional[str] = ..., op: _Optional[str] = ..., selected: bool = ..., derived: _Optional[_Iterable[_Union[Source, _Mapping]]] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("call", "port")
    CALL_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    call: int
    port: int
    def __init__(self, call: _Optional[int] = ..., port: _Optional[int] = ...) -> None: ...

class LedgerEntry(_message.Message):
    __slots__ = ("path", "kind", "port", "status", "reason", "step")
    PATH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    path: str
    kind: str
    port: int
    status: str
    reason: str
    step: int
    def __init__(self, path: _Optional[str] = ..., kind: _Optional[str] = ..., port: _Optional[int] = ..., status: _Optional[str] = ..., reason: _Optional[str] = ..., step: _Optional[int] = ...) -> None: ...

class Execution(_message.Message):
    __slots__ = ("mode", "run_eagerly", "jit_compile", "steps_per_execution", "strategy", "replicas", "devices", "dtype_policy", "family", "keras_version", "tensorflow_version", "optimizer", "trace_seconds", "traces", "retraces", "function", "loss")
    MODE_FIELD_NUMBER: _ClassVar[int]
    RUN_EAGERLY_FIELD_NUMBER: _ClassVar[int]
    JIT_COMPILE_FIELD_NUMBER: _ClassVar[int]
    STEPS_PER_EXECUTION_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    REPLICAS_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    DTYPE_POLICY_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    KERAS_VERSION_FIELD_NUMBER: _ClassVar[int]
    TENSORFLOW_VERSION_FIELD_NUMBER: _ClassVar[int]
    OPTIMIZER_FIELD_NUMBER: _ClassVar[int]
    TRACE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    TRACES_FIELD_NUMBER: _ClassVar[int]
    RETRACES_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    mode: str
    run_eagerly: bool
    jit_compile: bool
    steps_per_execution: int
    strategy: str
    replicas: int
    devices: _containers.RepeatedScalarFieldContainer[str]
    dtype_policy: str
    family: str
    keras_version: str
    tensorflow_version: str
    optimizer: str
    trace_seconds: float
    traces: int
    retraces: _containers.RepeatedScalarFieldContainer[str]
    function: str
    loss: str
    def __init__(self, mode: _Optional[str] = ..., run_eagerly: bool = ..., jit_compile: bool = ..., steps_per_execution: _Optional[int] = ..., strategy: _Optional[str] = ..., replicas: _Optional[int] = ..., devices: _Optional[_Iterable[str]] = ..., dtype_policy: _Optional[str] = ..., family: _Optional[str] = ..., keras_version: _Optional[str] = ..., tensorflow_version: _Optional[str] = ..., optimizer: _Optional[str] = ..., trace_seconds: _Optional[float] = ..., traces: _Optional[int] = ..., retraces: _Optional[_Iterable[str]] = ..., function: _Optional[str] = ..., loss: _Optional[str] = ...) -> None: ...

class Op(_message.Message):
    __slots__ = ("name", "type", "call", "bucket", "backward", "forward_op", "variable", "stack", "fate", "inputs", "body")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    BUCKET_FIELD_NUMBER: _ClassVar[int]
    BACKWARD_FIELD_NUMBER: _ClassVar[int]
    FORWARD_OP_FIELD_NUMBER: _ClassVar[int]
    VARIABLE_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    FATE_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    name: int
    type: int
    call: int
    bucket: str
    backward: bool
    forward_op: int
    variable: str
    stack: int
    fate: str
    inputs: _containers.RepeatedScalarFieldContainer[int]
    body: str
    def __init__(self, name: _Optional[int] = ..., type: _Optional[int] = ..., call: _Optional[int] = ..., bucket: _Optional[str] = ..., backward: bool = ..., forward_op: _Optional[int] = ..., variable: _Optional[str] = ..., stack: _Optional[int] = ..., fate: _Optional[str] = ..., inputs: _Optional[_Iterable[int]] = ..., body: _Optional[str] = ...) -> None: ...

class Stack(_message.Message):
    __slots__ = ("frames", "user_frame")
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    USER_FRAME_FIELD_NUMBER: _ClassVar[int]
    frames: _containers.RepeatedScalarFieldContainer[int]
    user_frame: int
    def __init__(self, frames: _Optional[_Iterable[int]] = ..., user_frame: _Optional[int] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("file", "line", "function", "origin")
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    file: int
    line: int
    function: int
    origin: str
    def __init__(self, file: _Optional[int] = ..., line: _Optional[int] = ..., function: _Optional[int] = ..., origin: _Optional[str] = ...) -> None: ...

class SourceLine(_message.Message):
    __slots__ = ("file", "line", "text")
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    file: int
    line: int
    text: str
    def __init__(self, file: _Optional[int] = ..., line: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class Statistics(_message.Message):
    __slots__ = ("stamp", "step", "iterations", "epoch", "phase", "batch_size", "losses", "tables", "loss_scale", "skipped", "layer_losses", "ledger", "timings", "seconds", "step_seconds")
    STAMP_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    TABLES_FIELD_NUMBER: _ClassVar[int]
    LOSS_SCALE_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    LAYER_LOSSES_FIELD_NUMBER: _ClassVar[int]
    LEDGER_FIELD_NUMBER: _ClassVar[int]
    TIMINGS_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    STEP_SECONDS_FIELD_NUMBER: _ClassVar[int]
    stamp: Stamp
    step: int
    iterations: int
    epoch: float
    phase: str
    batch_size: int
    losses: _containers.RepeatedCompositeFieldContainer[Loss]
    tables: _containers.RepeatedCompositeFieldContainer[Table]
    loss_scale: float
    skipped: bool
    layer_losses: _containers.RepeatedCompositeFieldContainer[LayerLoss]
    ledger: _containers.RepeatedCompositeFieldContainer[LedgerEntry]
    timings: _containers.RepeatedCompositeFieldContainer[Timing]
    seconds: float
    step_seconds: float
    def __init__(self, stamp: _Optional[_Union[Stamp, _Mapping]] = ..., step: _Optional[int] = ..., iterations: _Optional[int] = ..., epoch: _Optional[float] = ..., phase: _Optional[str] = ..., batch_size: _Optional[int] = ..., losses: _Optional[_Iterable[_Union[Loss, _Mapping]]] = ..., tables: _Optional[_Iterable[_Union[Table, _Mapping]]] = ..., loss_scale: _Optional[float] = ..., skipped: bool = ..., layer_losses: _Optional[_Iterable[_Union[LayerLoss, _Mapping]]] = ..., ledger: _Optional[_Iterable[_Union[LedgerEntry, _Mapping]]] = ..., timings: _Optional[_Iterable[_Union[Timing, _Mapping]]] = ..., seconds: _Optional[float] = ..., step_seconds: _Optional[float] = ...) -> None: ...

class Loss(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: float
    def __init__(self, name: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...

class Table(_message.Message):
    __slots__ = ("kind", "call", "port", "count", "mean", "l2", "min", "max", "finite", "std", "zero", "nan", "pos_inf", "neg_inf", "part", "stride")
    KIND_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    L2_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    FINITE_FIELD_NUMBER: _ClassVar[int]
    STD_FIELD_NUMBER: _ClassVar[int]
    ZERO_FIELD_NUMBER: _ClassVar[int]
    NAN_FIELD_NUMBER: _ClassVar[int]
    POS_INF_FIELD_NUMBER: _ClassVar[int]
    NEG_INF_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    call: _containers.RepeatedScalarFieldContainer[int]
    port: _containers.RepeatedScalarFieldContainer[int]
    count: _containers.RepeatedScalarFieldContainer[int]
    mean: bytes
    l2: bytes
    min: bytes
    max: bytes
    finite: bytes
    std: bytes
    zero: _containers.RepeatedScalarFieldContainer[int]
    nan: _containers.RepeatedScalarFieldContainer[int]
    pos_inf: _containers.RepeatedScalarFieldContainer[int]
    neg_inf: _containers.RepeatedScalarFieldContainer[int]
    part: _containers.RepeatedScalarFieldContainer[int]
    stride: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, kind: _Optional[str] = ..., call: _Optional[_Iterable[int]] = ..., port: _Optional[_Iterable[int]] = ..., count: _Optional[_Iterable[int]] = ..., mean: _Optional[bytes] = ..., l2: _Optional[bytes] = ..., min: _Optional[bytes] = ..., max: _Optional[bytes] = ..., finite: _Optional[bytes] = ..., std: _Optional[bytes] = ..., zero: _Optional[_Iterable[int]] = ..., nan: _Optional[_Iterable[int]] = ..., pos_inf: _Optional[_Iterable[int]] = ..., neg_inf: _Optional[_Iterable[int]] = ..., part: _Optional[_Iterable[int]] = ..., stride: _Optional[_Iterable[int]] = ...) -> None: ...

class LayerLoss(_message.Message):
    __slots__ = ("call", "port", "form", "loss", "accuracy", "task", "output", "seed", "ridge", "dimensions", "baseline")
    CALL_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    ACCURACY_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    RIDGE_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    BASELINE_FIELD_NUMBER: _ClassVar[int]
    call: int
    port: int
    form: str
    loss: float
    accuracy: float
    task: str
    output: str
    seed: int
    ridge: float
    dimensions: int
    baseline: float
    def __init__(self, call: _Optional[int] = ..., port: _Optional[int] = ..., form: _Optional[str] = ..., loss: _Optional[float] = ..., accuracy: _Optional[float] = ..., task: _Optional[str] = ..., output: _Optional[str] = ..., seed: _Optional[int] = ..., ridge: _Optional[float] = ..., dimensions: _Optional[int] = ..., baseline: _Optional[float] = ...) -> None: ...

class Timing(_message.Message):
    __slots__ = ("call", "forward", "backward")
    CALL_FIELD_NUMBER: _ClassVar[int]
    FORWARD_FIELD_NUMBER: _ClassVar[int]
    BACKWARD_FIELD_NUMBER: _ClassVar[int]
    call: int
    forward: float
    backward: float
    def __init__(self, call: _Optional[int] = ..., forward: _Optional[float] = ..., backward: _Optional[float] = ...) -> None: ...

class Histograms(_message.Message):
    __slots__ = ("stamp", "step", "deflated")
    STAMP_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    DEFLATED_FIELD_NUMBER: _ClassVar[int]
    stamp: Stamp
    step: int
    deflated: bytes
    def __init__(self, stamp: _Optional[_Union[Stamp, _Mapping]] = ..., step: _Optional[int] = ..., deflated: _Optional[bytes] = ...) -> None: ...

class HistogramTables(_message.Message):
    __slots__ = ("tables",)
    TABLES_FIELD_NUMBER: _ClassVar[int]
    tables: _containers.RepeatedCompositeFieldContainer[HistogramTable]
    def __init__(self, tables: _Optional[_Iterable[_Union[HistogramTable, _Mapping]]] = ...) -> None: ...

class HistogramTable(_message.Message):
    __slots__ = ("kind", "call", "port", "bins", "bin", "counts", "part", "total")
    KIND_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    BINS_FIELD_NUMBER: _ClassVar[int]
    BIN_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    kind: str
    call: _containers.RepeatedScalarFieldContainer[int]
    port: _containers.RepeatedScalarFieldContainer[int]
    bins: _containers.RepeatedScalarFieldContainer[int]
    bin: _containers.RepeatedScalarFieldContainer[int]
    counts: _containers.RepeatedScalarFieldContainer[int]
    part: _containers.RepeatedScalarFieldContainer[int]
    total: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, kind: _Optional[str] = ..., call: _Optional[_Iterable[int]] = ..., port: _Optional[_Iterable[int]] = ..., bins: _Optional[_Iterable[int]] = ..., bin: _Optional[_Iterable[int]] = ..., counts: _Optional[_Iterable[int]] = ..., part: _Optional[_Iterable[int]] = ..., total: _Optional[_Iterable[int]] = ...) -> None: ...

class Values(_message.Message):
    __slots__ = ("stamp", "step", "file", "values", "cut", "samples", "bytes")
    STAMP_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    stamp: Stamp
    step: int
    file: str
    values: _containers.RepeatedCompositeFieldContainer[Value]
    cut: _containers.RepeatedCompositeFieldContainer[LedgerEntry]
    samples: int
    bytes: int
    def __init__(self, stamp: _Optional[_Union[Stamp, _Mapping]] = ..., step: _Optional[int] = ..., file: _Optional[str] = ..., values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., cut: _Optional[_Iterable[_Union[LedgerEntry, _Mapping]]] = ..., samples: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("kind", "call", "port", "member", "shape", "dtype", "bytes")
    KIND_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    kind: str
    call: int
    port: int
    member: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    dtype: str
    bytes: int
    def __init__(self, kind: _Optional[str] = ..., call: _Optional[int] = ..., port: _Optional[int] = ..., member: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., dtype: _Optional[str] = ..., bytes: _Optional[int] = ...) -> None: ...
