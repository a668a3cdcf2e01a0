// This file is empty. Go allows functions without a body in a package that has an assembly file.
