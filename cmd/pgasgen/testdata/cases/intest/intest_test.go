package intest

//pgas:symmetric
type InTest struct{ X int64 }
