"""The state of one interpretation: sources, modules, budget, and how nodes and calls are run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import Any

import libcst as cst

from forwardbook.analyzers.reader.sources import SourceFile, Sources
from forwardbook.analyzers.static import frames
from forwardbook.analyzers.static.frames import STACK, Activation
from forwardbook.analyzers.static.functions import Function, declared
from forwardbook.analyzers.static.imports import Imports
from forwardbook.analyzers.static.modules import SourceModule
from forwardbook.analyzers.static.opaque import NoOp, Opaque, is_a
from forwardbook.analyzers.static.scope import Scope
from forwardbook.analyzers.static.unresolved import Unresolved

Evaluate = Callable[["Interpreter", Any, Scope], Any]
Execute = Callable[["Interpreter", Any, Scope], Any]
Block = Generator[Any, Any, Any]

EVALUATE: dict[type, Evaluate] = {}  # expression node -> its value
SIMPLE: dict[type, Execute] = {}  # simple statement -> None or a signal
COMPOUND: dict[type, Callable[[Interpreter, Any, Scope], Block]] = {}  # compound statement -> a block


def evaluates(*kinds: type) -> Callable[[Evaluate], Evaluate]:
    """Register how an expression is evaluated; a second registration is refused."""
    return _register(EVALUATE, kinds)


def executes(*kinds: type) -> Callable[[Execute], Execute]:
    """Register how a simple statement is executed."""
    return _register(SIMPLE, kinds)


def runs(*kinds: type) -> Callable[[Callable[..., Block]], Callable[..., Block]]:
    """Register how a compound statement is run; it is a generator, so that `yield` may stand within."""
    return _register(COMPOUND, kinds)


def _register(table: dict[type, Any], kinds: tuple[type, ...]) -> Callable[[Any], Any]:
    def add(handler: Any) -> Any:
        for kind in kinds:
            if kind in table:
                raise TypeError(f"two handlers for {kind.__name__}")
            table[kind] = handler
        return handler

    return add


class Interpreter:
    """Interprets source text over abstract values; never imports or compiles it."""

    def __init__(
        self, sources: Sources | None = None, most_steps: int = 3_000_000, most_depth: int = 120
    ) -> None:
        from forwardbook.analyzers.static.builtin_names import safe_builtins

        self.sources = sources or Sources()
        self.imports = Imports(self)
        self.builtins = safe_builtins(self)
        self.most_steps = most_steps
        self.most_depth = most_depth
        self.steps = 0
        self.handled: list[BaseException] = []  # the exceptions that `raise` alone would raise again

    def at(self, node: cst.CSTNode) -> None:
        """Note the expression that runs now: what an operation issued from here on belongs to."""
        STACK[-1].node = node

    def step(self) -> None:
        """Count one step against the budget."""
        self.steps += 1
        if self.steps > self.most_steps:
            raise Unresolved(f"it takes more than {self.most_steps} steps")

    def evaluate(self, node: cst.BaseExpression, scope: Scope) -> Any:
        """The value of an expression."""
        handler = EVALUATE.get(type(node))
        if handler is None:
            self.at(node)
            raise Unresolved(f"the expression {type(node).__name__} is not interpreted")
        return handler(self, node, scope)

    def block(self, body: cst.CSTNode, scope: Scope) -> Block:
        """Run the statements of a suite; gives the signal that ended it, None at its end."""
        for node in _statements(body):
            if isinstance(node, cst.SimpleStatementLine | cst.SimpleStatementSuite):
                signal = yield from self.block(node, scope)
            elif type(node) in SIMPLE:
                self.step()
                signal = SIMPLE[type(node)](self, node, scope)
                if isinstance(signal, Generator):
                    signal = yield from signal
            elif type(node) in COMPOUND:
                self.step()
                signal = yield from COMPOUND[type(node)](self, node, scope)
            elif isinstance(node, cst.BaseStatement | cst.BaseSmallStatement):
                self.at(node)
                raise Unresolved(f"the statement {type(node).__name__} is not interpreted")
            else:
                continue
            if signal is not None:
                return signal
        return None

    def call_function(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Interpret a function's body with these arguments."""
        bound = function.parameters.bind(function.__qualname__, args, kwargs)
        scope = Scope(function.scope.module, function.scope, False, function, bound)
        node = function.node
        instance = args[0] if args and function.owner is not None and function.parameters.positional else None
        passes_on = function.parameters.pass_on(function.__name__)
        activation = Activation(function.source, function.__qualname__, node, instance, passes_on)
        if len(STACK) > self.most_depth:
            raise Unresolved(f"more than {self.most_depth} calls within each other")
        if isinstance(node, cst.Lambda):
            return self._run_lambda(node, scope, activation)
        scope.globals = declared(node.body, cst.Global)
        scope.outside = declared(node.body, cst.Nonlocal)
        if function.is_generator:
            return self._generate(node.body, scope, activation)
        return self._run(node.body, scope, activation)

    def _run_lambda(self, node: cst.Lambda, scope: Scope, activation: Activation) -> Any:
        with _Active(activation):
            return self.evaluate(node.body, scope)

    def _run(self, body: cst.CSTNode, scope: Scope, activation: Activation) -> Any:
        with _Active(activation):
            running = self.block(body, scope)
            try:
                next(running)
            except StopIteration as stop:
                signal = stop.value
            else:
                raise Unresolved("a yield outside a generator function")
        return signal.value if isinstance(signal, Return) else None

    def _generate(self, body: cst.CSTNode, scope: Scope, activation: Activation) -> Generator[Any, Any, Any]:
        running = self.block(body, scope)
        resume: Callable[[], Any] = running.__next__
        while True:
            try:
                with _Active(activation):
                    value = resume()
            except StopIteration as stop:
                return stop.value.value if isinstance(stop.value, Return) else None
            try:
                sent = yield value
                resume = partial(running.send, sent)
            except BaseException as error:
                resume = partial(running.throw, error)

    def run_module_statement(self, module: SourceModule, statement: cst.CSTNode) -> None:
        """Interpret one statement of a module's top level."""
        scope = Scope(module, None, names=module.names)
        self._run_statement(statement, scope, Activation(module.source, "<module>", statement, None))

    def _run_statement(self, statement: cst.CSTNode, scope: Scope, activation: Activation) -> None:
        with _Active(activation):
            for _ in self.block(_Suite(statement), scope):  # type: ignore[arg-type]
                raise Unresolved("a yield outside a function")

    def call(self, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a value: interpreted code, or native code from a trusted namespace."""
        from forwardbook.analyzers.static.calls import call_value

        return call_value(self, callee, args, kwargs)

    def iterate(self, value: Any) -> Iterator[Any]:
        """The items of a value, each counted against the budget."""
        if is_a(value, Opaque):
            raise value.refuse()
        if is_a(value, NoOp):
            return
        for item in value:
            self.step()
            yield item

    def function(
        self, node: cst.FunctionDef | cst.Lambda, scope: Scope, parameters: Any, qualname: str
    ) -> Function:
        """A function value that this interpreter runs."""
        return Function(self.call_function, node, scope.module.source, scope, parameters, qualname)

    @property
    def source(self) -> SourceFile:
        """The file whose code runs now."""
        return STACK[-1].source


class _Active:
    """Puts an activation on the stack while its code runs, and places the errors that leave it."""

    __slots__ = ("activation", "depth")

    def __init__(self, activation: Activation) -> None:
        self.activation = activation
        self.depth = len(STACK)

    def __enter__(self) -> None:
        STACK.append(self.activation)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None and not isinstance(error, StopIteration):
            locate(error, self.activation)
        del STACK[self.depth :]


def _statements(body: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """The statements of a suite; those of one line between semicolons too."""
    if isinstance(body, cst.IndentedBlock | cst.SimpleStatementLine | cst.SimpleStatementSuite):
        return body.body
    return body.children


class _Suite:
    """One statement where a suite is expected."""

    def __init__(self, statement: cst.CSTNode) -> None:
        self.children = (statement,)


class Return:
    """The signal of a return statement."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Jump:
    """The signal of `break` or `continue`."""


BREAK = Jump()
CONTINUE = Jump()


def locate(error: BaseException, activation: Activation) -> None:
    """Note where an error came from, the innermost interpreted place first."""
    if isinstance(error, Unresolved):
        if not error.file:
            error.file, error.line = str(activation.source.path), activation.span().line
            error.args = (f"{error.file}:{error.line}: {error.reason}",)
    elif not hasattr(error, "interpreted_at"):
        error.interpreted_at = (str(activation.source.path), activation.span().line)  # type: ignore[attr-defined]


for _marker in (Interpreter._run, Interpreter._run_lambda, Interpreter._run_statement, Interpreter._generate):
    frames.marks_activation(_marker.__code__)
