"""Tools turns settings into exact command lines of Nsight tools, checked before they run and after."""
