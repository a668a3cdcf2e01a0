// Empty: with an assembly file in the package, Go lets enterFrame and leaveFrame have no bodies.
