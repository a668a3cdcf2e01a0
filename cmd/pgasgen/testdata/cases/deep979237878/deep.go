package deep

//pgas:symmetric
type T0 struct{ A, B T1 }

//pgas:symmetric
type T1 struct{ A, B T2 }

//pgas:symmetric
type T2 struct{ A, B T3 }

//pgas:symmetric
type T3 struct{ A, B T4 }

//pgas:symmetric
type T4 struct{ A, B T5 }

//pgas:symmetric
type T5 struct{ A, B T6 }

//pgas:symmetric
type T6 struct{ A, B T7 }

//pgas:symmetric
type T7 struct{ A, B T8 }

//pgas:symmetric
type T8 struct{ A, B T9 }

//pgas:symmetric
type T9 struct{ A, B T10 }

//pgas:symmetric
type T10 struct{ A, B T11 }

//pgas:symmetric
type T11 struct{ A, B T12 }

//pgas:symmetric
type T12 struct{ A, B T13 }

//pgas:symmetric
type T13 struct{ A, B T14 }

//pgas:symmetric
type T14 struct{ A, B T15 }

//pgas:symmetric
type T15 struct{ A, B T16 }

//pgas:symmetric
type T16 struct{ A, B T17 }

//pgas:symmetric
type T17 struct{ A, B T18 }

//pgas:symmetric
type T18 struct{ A, B T19 }

//pgas:symmetric
type T19 struct{ A, B T20 }

//pgas:symmetric
type T20 struct{ A int64 }
