package postgres

import "context"

// OpenNext opens a database like a program of the next format, in which folded counts have another
// column.
func OpenNext(ctx context.Context, url string) (*Store, error) {
	return openFormats(ctx, url, append(thisProgram(), `ALTER TABLE adshard_events.folded ADD COLUMN conversions bigint NOT NULL DEFAULT 0;
CREATE TABLE adshard_events.note (id bigint PRIMARY KEY);`))
}
