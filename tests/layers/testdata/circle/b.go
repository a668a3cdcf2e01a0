package circle

// A generic type's methods and fields count once instantiated, too.
var names = list[string]{items: []string{ground}}

func firstName() string { return names.first() }
