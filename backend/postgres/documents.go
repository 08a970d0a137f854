package postgres

import (
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"

	"adshard/backend"
	"adshard/fault"
)

// lockDocuments is SQL that waits until no other transaction writes documents, so that their versions become visible
// in order.
const lockDocuments = "SELECT pg_advisory_xact_lock(1097093992, 4)"

const documentColumns = "SELECT name, version, size, sum, removed FROM adshard.document"

func scanDocument(r pgx.CollectableRow) (d backend.Document, err error) {
	var version, size, sum int64
	err = r.Scan(&d.Name, &version, &size, &sum, &d.Removed)
	d.Version, d.Size, d.Sum = uint64(version), uint64(size), uint64(sum)
	return d, err
}

// Documents implements backend.Documents.
func (s *Store) Documents(ctx context.Context, after uint64, limit int) (list []backend.Document, err error) {
	err = s.read(ctx, "documents", func(c *pgx.Conn) error {
		rows, _ := c.Query(ctx, documentColumns+" WHERE version > $1 ORDER BY version LIMIT $2", int64(min(after, math.MaxInt64)), limit)
		list, err = pgx.CollectRows(rows, scanDocument) // also returns the error of Query
		return err
	})
	return list, err
}

// Document implements backend.Documents.
func (s *Store) Document(ctx context.Context, name string) (d backend.Document, err error) {
	err = s.read(ctx, "document", func(c *pgx.Conn) error {
		d, err = document(ctx, c, name)
		return err
	})
	if err == nil && d.Version == 0 {
		err = fault.Newf(fault.NotFound, "postgres: document", "there is no %s", name)
	}
	return d, err
}

// document returns the head of a document, or the zero value if there is none.
func document(ctx context.Context, c interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, name string) (backend.Document, error) {
	rows, _ := c.Query(ctx, documentColumns+" WHERE name = $1 AND NOT removed", name)
	d, err := pgx.CollectExactlyOneRow(rows, scanDocument) // also returns the error of Query
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return d, err
}

// DocumentPart implements backend.Documents.
func (s *Store) DocumentPart(ctx context.Context, name string, version uint64, part int) (data []byte, err error) {
	err = s.read(ctx, "document part", func(c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT p.data FROM adshard.document d JOIN adshard.document_part p ON p.name = d.name
  WHERE d.name = $1 AND d.version = $2 AND p.part = $3`, name, int64(min(version, math.MaxInt64)), part).Scan(&data)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = fault.Newf(fault.NotFound, "postgres: document", "%s of version %d has no part %d", name, version, part)
	}
	return data, err
}

// SaveDocument implements backend.Documents.
func (s *Store) SaveDocument(ctx context.Context, name string, was uint64, data []byte) (d backend.Document, err error) {
	c, err := s.acquire(ctx, "save document")
	if err != nil {
		return d, err
	}
	defer c.Release()
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		for _, sql := range []string{s.lockTimeout(), lockDocuments} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		now, err := document(ctx, tx, name)
		if err != nil {
			return err
		}
		if now.Version != was {
			return fault.Newf(fault.Conflict, "postgres: save document", "%s has version %d, not %d", name, now.Version, was)
		}
		var newest int64
		if err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM adshard.document").Scan(&newest); err != nil {
			return err
		}
		if d, err = backend.NewDocument(name, uint64(newest)+1, data); err != nil {
			return err
		}
		return writeDocument(ctx, tx, d, data)
	})
	return d, s.failed(ctx, "save document", err)
}

func writeDocument(ctx context.Context, tx pgx.Tx, d backend.Document, data []byte) error {
	_, err := tx.Exec(ctx, "DELETE FROM adshard.document_part WHERE name = $1", d.Name)
	if err == nil {
		_, err = tx.Exec(ctx, `INSERT INTO adshard.document (name, version, size, sum, removed) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (name) DO UPDATE SET version = $2, size = $3, sum = $4, removed = $5`, d.Name, int64(d.Version), int64(d.Size), int64(d.Sum), d.Removed)
	}
	for part := range d.Parts() {
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO adshard.document_part (name, part, data) VALUES ($1, $2, $3)", d.Name, part, backend.PartOf(data, part))
	}
	return err
}
