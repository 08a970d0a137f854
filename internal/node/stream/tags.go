package stream

import (
	"context"
	"time"

	"adshard/internal/node/wire"
)

type tagsKey struct{}

// With returns a context whose searches carry these tags.
func With(ctx context.Context, t wire.Tags) context.Context {
	return context.WithValue(ctx, tagsKey{}, t)
}

type cameKey struct{}

// CameAt returns when the ask came that a slave answers in this context; false: it is
// answering none.
func CameAt(ctx context.Context) (time.Time, bool) {
	at, ok := ctx.Value(cameKey{}).(time.Time)
	return at, ok
}

// TagsOf returns the tags of a context: those of With, or of the ask that a slave
// answers.
func TagsOf(ctx context.Context) wire.Tags {
	t, _ := ctx.Value(tagsKey{}).(wire.Tags)
	return t
}
