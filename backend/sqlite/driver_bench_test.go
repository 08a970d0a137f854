package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
	zombie "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// The two drivers for the same SQLite, compared with the statements that matter:
// rows of a clustered table written in one transaction, and read back in order.
// docs/decisions/004-sqlite-driver.md has the figures.

const driverSchema = `
CREATE TABLE keyword (
  group_id INTEGER NOT NULL, words TEXT NOT NULL, type INTEGER NOT NULL,
  id INTEGER NOT NULL, text TEXT NOT NULL, enabled INTEGER NOT NULL, bid INTEGER, quality INTEGER NOT NULL,
  PRIMARY KEY (group_id, words, type)) WITHOUT ROWID, STRICT;`

const (
	driverInsert = `INSERT INTO keyword (group_id, words, type, id, text, enabled, bid, quality) VALUES `
	driverRow    = `(?,?,?,?,?,?,?,?)`
	driverSelect = `SELECT group_id, words, type, id, text, enabled, bid, quality FROM keyword ORDER BY group_id`
	driverRows   = 110_000
)

func driverInsertOf(rows int) string {
	return driverInsert + strings.TrimSuffix(strings.Repeat(driverRow+",", rows), ",")
}

func driverWords(i int) (words, text string) {
	return fmt.Sprintf("usb cable %d metres", i*7919%driverRows), fmt.Sprintf("USB cable %d metres", i*7919%driverRows)
}

func openSQL(b *testing.B) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "a.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	if _, err := db.Exec(driverSchema); err != nil {
		b.Fatal(err)
	}
	return db
}

func openZombie(b *testing.B) *zombie.Conn {
	c, err := zombie.OpenConn(filepath.Join(b.TempDir(), "a.db"), zombie.OpenReadWrite|zombie.OpenCreate|zombie.OpenWAL)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	if err := sqlitex.ExecuteTransient(c, "PRAGMA synchronous=normal", nil); err != nil {
		b.Fatal(err)
	}
	if err := sqlitex.ExecuteScript(c, driverSchema, nil); err != nil {
		b.Fatal(err)
	}
	return c
}

func fillSQL(b *testing.B, db *sql.DB, batch int) {
	ctx := context.Background()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		b.Fatal(err)
	}
	st, err := tx.Prepare(driverInsertOf(batch))
	if err != nil {
		b.Fatal(err)
	}
	args := make([]any, 0, 8*batch)
	for i := 0; i < driverRows; {
		args = args[:0]
		for range batch {
			w, t := driverWords(i)
			args = append(args, i/11, w, 2, i, t, 1, 1000000, 5)
			i++
		}
		if _, err := st.Exec(args...); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

func fillZombie(b *testing.B, c *zombie.Conn, batch int) {
	if err := sqlitex.Execute(c, "BEGIN IMMEDIATE", nil); err != nil {
		b.Fatal(err)
	}
	st, _, err := c.PrepareTransient(driverInsertOf(batch))
	if err != nil {
		b.Fatal(err)
	}
	defer st.Finalize()
	for i := 0; i < driverRows; {
		p := 0
		for range batch {
			w, t := driverWords(i)
			st.BindInt64(p+1, int64(i/11))
			st.BindText(p+2, w)
			st.BindInt64(p+3, 2)
			st.BindInt64(p+4, int64(i))
			st.BindText(p+5, t)
			st.BindInt64(p+6, 1)
			st.BindInt64(p+7, 1000000)
			st.BindInt64(p+8, 5)
			p += 8
			i++
		}
		if _, err := st.Step(); err != nil {
			b.Fatal(err)
		}
		if err := st.Reset(); err != nil {
			b.Fatal(err)
		}
	}
	if err := sqlitex.Execute(c, "COMMIT", nil); err != nil {
		b.Fatal(err)
	}
}

func rowsPerSecond(b *testing.B) {
	b.ReportMetric(float64(driverRows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkDriverWrite(b *testing.B) {
	for _, batch := range []int{1, 10, 50} {
		b.Run(fmt.Sprintf("database-sql/%d", batch), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				b.StopTimer()
				db := openSQL(b)
				b.StartTimer()
				fillSQL(b, db, batch)
			}
			rowsPerSecond(b)
		})
		b.Run(fmt.Sprintf("zombiezen/%d", batch), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				b.StopTimer()
				c := openZombie(b)
				b.StartTimer()
				fillZombie(b, c, batch)
			}
			rowsPerSecond(b)
		})
	}
}

func BenchmarkDriverRead(b *testing.B) {
	b.Run("database-sql", func(b *testing.B) {
		db := openSQL(b)
		fillSQL(b, db, 10)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			readSQL(b, db)
		}
		rowsPerSecond(b)
	})
	b.Run("zombiezen", func(b *testing.B) {
		c := openZombie(b)
		fillZombie(b, c, 10)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			readZombie(b, c)
		}
		rowsPerSecond(b)
	})
}

func readSQL(b *testing.B, db *sql.DB) {
	rows, err := db.Query(driverSelect)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var g, typ, id, enabled, quality int64
	var bid sql.NullInt64
	var words, text string
	for rows.Next() {
		if err := rows.Scan(&g, &words, &typ, &id, &text, &enabled, &bid, &quality); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
}

func readZombie(b *testing.B, c *zombie.Conn) {
	st, err := c.Prepare(driverSelect)
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for {
		ok, err := st.Step()
		if err != nil {
			b.Fatal(err)
		}
		if !ok {
			break
		}
		for _, col := range []int{0, 2, 3, 5, 6, 7} {
			n += int(st.ColumnInt64(col))
		}
		n += len(st.ColumnText(1)) + len(st.ColumnText(4))
	}
	if n == 0 {
		b.Fatal("nothing was read")
	}
}
