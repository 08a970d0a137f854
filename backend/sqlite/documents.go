package sqlite

import (
	"context"
	"math"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/fault"
)

const documentColumns = "SELECT name, version, size, sum, removed FROM document"

func scanDocument(st *zs.Stmt) backend.Document {
	return backend.Document{Name: st.ColumnText(0), Version: uint64(st.ColumnInt64(1)), Size: uint64(st.ColumnInt64(2)), Sum: uint64(st.ColumnInt64(3)),
		Removed: st.ColumnBool(4)}
}

// Documents implements backend.Documents.
func (s *Store) Documents(ctx context.Context, after uint64, limit int) (list []backend.Document, err error) {
	err = s.read(ctx, "documents", func(c *conn) error {
		return c.query(documentColumns+" WHERE version > ? ORDER BY version LIMIT ?", func(st *zs.Stmt) error {
			list = append(list, scanDocument(st))
			return nil
		}, min(after, math.MaxInt64), int64(limit))
	})
	return list, err
}

// Document implements backend.Documents.
func (s *Store) Document(ctx context.Context, name string) (d backend.Document, err error) {
	err = s.read(ctx, "document", func(c *conn) error {
		if d, err = c.document(name); err == nil && (d.Version == 0 || d.Removed) {
			d, err = backend.Document{}, fault.Newf(fault.NotFound, "sqlite: document", "there is no %s", name)
		}
		return err
	})
	return d, err
}

// document returns the head of a document, which may be a removed one, or the zero value if there never was one.
func (c *conn) document(name string) (d backend.Document, err error) {
	err = c.query(documentColumns+" WHERE name = ?", func(st *zs.Stmt) error {
		d = scanDocument(st)
		return nil
	}, name)
	return d, err
}

// DocumentPart implements backend.Documents.
func (s *Store) DocumentPart(ctx context.Context, name string, version uint64, part int) (data []byte, err error) {
	err = s.read(ctx, "document part", func(c *conn) error {
		data, err = c.documentPart(name, version, part)
		return err
	})
	return data, err
}

func (c *conn) documentPart(name string, version uint64, part int) (data []byte, err error) {
	err = c.query("SELECT p.data FROM document d JOIN document_part p ON p.name = d.name WHERE d.name = ? AND d.version = ? AND p.part = ?", func(st *zs.Stmt) error {
		data = make([]byte, st.ColumnLen(0))
		st.ColumnBytes(0, data)
		return nil
	}, name, min(version, math.MaxInt64), int64(part))
	if err == nil && data == nil {
		err = fault.Newf(fault.NotFound, "sqlite: document", "%s of version %d has no part %d", name, version, part)
	}
	return data, err
}

// SaveDocument implements backend.Documents.
func (s *Store) SaveDocument(ctx context.Context, name string, was uint64, data []byte) (d backend.Document, err error) {
	err = s.write(ctx, "save document", func(c *conn) error {
		now, err := c.document(name)
		if err != nil {
			return err
		}
		if now.Removed {
			now.Version = 0
		}
		if now.Version != was {
			return fault.Newf(fault.Conflict, "sqlite: save document", "%s has version %d, not %d", name, now.Version, was)
		}
		newest, err := c.number("SELECT coalesce(max(version), 0) FROM document")
		if err == nil {
			d, err = backend.NewDocument(name, uint64(newest)+1, data)
		}
		if err != nil {
			return err
		}
		return c.writeDocument(d, data)
	})
	return d, err
}

func (c *conn) writeDocument(d backend.Document, data []byte) error {
	if err := c.exec("DELETE FROM document_part WHERE name = ?", d.Name); err != nil {
		return err
	}
	err := c.exec(`INSERT INTO document (name, version, size, sum, removed) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (name) DO UPDATE SET version = ?2, size = ?3, sum = ?4, removed = ?5`, d.Name, d.Version, d.Size, d.Sum, d.Removed)
	for part := range d.Parts() {
		if err != nil {
			return err
		}
		err = c.exec("INSERT INTO document_part (name, part, data) VALUES (?, ?, ?)", d.Name, int64(part), backend.PartOf(data, part))
	}
	return err
}

// documents compares documents with what was written.
func (k *checking) documents() error {
	var all []backend.Document
	err := k.c.query(documentColumns, func(st *zs.Stmt) error {
		all = append(all, scanDocument(st))
		return nil
	})
	for i := range all {
		if err != nil {
			return err
		}
		_, err = backend.ReadDocument(context.Background(), all[i], func(_ context.Context, name string, version uint64, part int) ([]byte, error) {
			return k.c.documentPart(name, version, part)
		})
		if fault.Is(err, fault.NotFound) {
			k.problem("the document %s lacks a part", all[i].Name)
			err = nil
		}
		err = k.found(context.Background(), err)
	}
	return err
}
