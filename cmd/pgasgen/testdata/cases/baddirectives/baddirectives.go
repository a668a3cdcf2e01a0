// Package baddirectives has directives that reach no struct, or are none.
package baddirectives

//pgas:symetric
type Misspelt struct{ X int64 }

// pgas:symmetric
type Spaced struct{ X int64 }

//pgas: symmetric
type Inside struct{ X int64 }

//PGAS:symmetric
type Upper struct{ X int64 }

//pgas:symmetric please
type Argument struct{ X int64 }

//pgas:symmetric view
type View struct{ X int64 }

//pgas:symmetric  views
type TwoSpaces struct{ X int64 }

//pgas:symmetric views views
type ViewsTwice struct{ X int64 }

//pgas:views
type OnlyViews struct{ X int64 }

// pgas:symmetric views
type SpacedViews struct{ X int64 }

//pgas:symmetric
//pgas:symmetric
type Twice struct{ X int64 }

//pgas:symmetric
//pgas:symmetric views
type Both struct{ X int64 }

//pgas:symmetric views
type NumberViews int64

//pgas:symmetric
type Number int64

//pgas:symmetric
type Alias = Twice

//pgas:symmetric
type Generic[T any] struct{ X T }

//pgas:symmetric
type _ struct{ X int64 }

//pgas:symmetric

type Detached struct{ X int64 }

//pgas:symmetric
type (
	Grouped struct{ X int64 }
)

//pgas:symmetric
var variable int64

//pgas:symmetric
func function() {
	//pgas:symmetric
	type Local struct{ X int64 }

	_ = Local{}
	_ = func() {
		type (
			//pgas:symmetric
			InClosure struct{ X int64 }
		)
		_ = InClosure{}
	}
}

type Field struct {
	//pgas:symmetric
	Inner struct{ X int64 }
}

var _, _ = variable, function
