package fault

import "errors"

// Classes assigns each error a value of type T, such as an HTTP status: the value that Classify
// gave it, otherwise that of its kind.
type Classes[T any] struct {
	Kinds map[Kind]T
	// Other is the value of the kinds that Kinds does not list.
	Other T
}

// Of returns the value of err.
func (c Classes[T]) Of(err error) T {
	var own *classified[T]
	if errors.As(err, &own) {
		return own.value
	}
	if value, ok := c.Kinds[KindOf(err)]; ok {
		return value
	}
	return c.Other
}

// Classify attaches a value to err, for errors that need a finer distinction than their kind. Text,
// kind and chain stay the same.
func Classify[T any](err error, value T) error { return &classified[T]{err, value} }

type classified[T any] struct {
	error
	value T
}

func (c *classified[T]) Unwrap() error { return c.error }
