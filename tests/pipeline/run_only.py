"""A worker for tests of the child process alone: it builds and runs the class and derives nothing."""

from forwardbook.analyzers.instances.recipe import InstanceOptions
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.pipeline.request import Request, Response


def work(request: Request) -> Response:
    """The response of a class whose forward() ran once."""
    options = InstanceOptions(init=request.init, inputs=request.inputs)
    run_symbolically(recipes_for(request.target, options)[0])
    return Response(entry={"full_class_name": request.target})
