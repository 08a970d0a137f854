package stream

import (
	"context"

	"adshard/internal/node/wire"
)

type tagsKey struct{}

// With returns a context whose searches carry these tags.
func With(ctx context.Context, t wire.Tags) context.Context {
	return context.WithValue(ctx, tagsKey{}, t)
}

// TagsOf returns the tags of a context: those of With, or of the ask that a slave
// answers.
func TagsOf(ctx context.Context) wire.Tags {
	t, _ := ctx.Value(tagsKey{}).(wire.Tags)
	return t
}
