package sqlite

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
)

// conn is one connection with its prepared statements. Only one goroutine may use it at a time.
type conn struct {
	*zs.Conn
	of     *file // the file that it is open on; nil outside a pool
	looked *look // what Newest last found on a connection for reading, or nil
}

// Settings of every connection. The cache is per connection, in KiB.
const (
	walMode     = "PRAGMA journal_mode = WAL"
	writerCache = "PRAGMA cache_size = -65536"
	readerCache = "PRAGMA cache_size = -16384"
	// checkpointPages is how far the write-ahead log grows before it is copied into the database: far enough that
	// bulk writes write a page only a few times.
	checkpointPages = "PRAGMA wal_autocheckpoint = 4000"
	// limitLog is the size to which the file of the write-ahead log is truncated.
	limitLog = "PRAGMA journal_size_limit = 67108864"
)

func connect(path string, busy time.Duration, settings ...string) (*conn, error) {
	c, err := zs.OpenConn(path, zs.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	c.SetBusyTimeout(busy)
	cn := &conn{Conn: c}
	settings = append(settings, "PRAGMA foreign_keys = ON", "PRAGMA synchronous = FULL", "PRAGMA temp_store = MEMORY")
	for _, s := range settings {
		if err := cn.exec(s); err != nil {
			c.Close()
			return nil, err
		}
	}
	return cn, nil
}

// freshRandom makes the marks of changes from the system's randomness and the current time (the column's default
// calls random()). SQLite's own generator is seeded only once: a process that is restored with its virtual machine's
// memory would repeat its numbers.
func (c *conn) freshRandom() error {
	return c.CreateFunction("random", &zs.FunctionImpl{
		AllowIndirect: true,
		Scalar: func(zs.Context, []zs.Value) (zs.Value, error) {
			var b [8]byte
			rand.Read(b[:])                // never fails
			const odd = 0x9e3779b97f4a7c15 // spreads the time over all bits
			return zs.IntegerValue(int64(binary.NativeEndian.Uint64(b[:]) ^ uint64(time.Now().UnixNano())*odd)), nil
		},
	})
}

// until interrupts statements when ctx is done, until the returned function is called. It costs a goroutine, so it is
// meant for statements that may take long.
func (c *conn) until(ctx context.Context) func() {
	if ctx.Done() == nil {
		return func() {}
	}
	c.SetInterrupt(ctx.Done())
	return func() { c.SetInterrupt(nil) }
}

// inRead calls f in a read transaction.
func (c *conn) inRead(f func() error) error {
	if err := c.exec("BEGIN"); err != nil {
		return err
	}
	defer c.exec("ROLLBACK")
	return f()
}

// exec runs a statement and ignores its result.
func (c *conn) exec(sql string, args ...any) error {
	return c.query(sql, nil, args...)
}

// query runs a statement and calls row for each row.
func (c *conn) query(sql string, row func(*zs.Stmt) error, args ...any) error {
	st, err := c.Prepare(sql)
	if err != nil {
		return err
	}
	bind(st, args)
	return rows(st, row)
}

// number returns the first column of the only row, or 0 if there is no row.
func (c *conn) number(sql string, args ...any) (int64, error) {
	var n int64
	err := c.query(sql, func(st *zs.Stmt) error {
		n = st.ColumnInt64(0)
		return nil
	}, args...)
	return n, err
}

// rows steps through a bound statement and resets it at the end, so that it holds no lock.
func rows(st *zs.Stmt, row func(*zs.Stmt) error) error {
	for {
		more, err := st.Step()
		if err != nil {
			return err
		}
		if !more {
			return st.Reset()
		}
		if row == nil {
			continue
		}
		if err := row(st); err != nil {
			st.Reset()
			return err
		}
	}
}

func bind(st *zs.Stmt, args []any) {
	for i, a := range args {
		switch v := a.(type) {
		case nil:
			st.BindNull(i + 1)
		case int64:
			st.BindInt64(i+1, v)
		case uint64:
			st.BindInt64(i+1, int64(v))
		case bool:
			st.BindBool(i+1, v)
		case string:
			st.BindText(i+1, v)
		case []byte:
			st.BindBytes(i+1, v)
		case optional:
			bindOptional(st, i+1, v)
		}
	}
}

// bindOptional binds a number that may be missing (NULL).
func bindOptional(st *zs.Stmt, i int, o optional) {
	if o.has {
		st.BindInt64(i, int64(o.n))
	} else {
		st.BindNull(i)
	}
}

// optional is a number that may be missing.
type optional struct {
	has bool
	n   uint64
}

// columnNumber reads a number that may be missing.
func columnNumber(st *zs.Stmt, i int) (n uint64, has bool) {
	if st.ColumnIsNull(i) {
		return 0, false
	}
	return uint64(st.ColumnInt64(i)), true
}

func columnModifier(st *zs.Stmt, i int) backend.Modifier {
	n, has := columnNumber(st, i)
	return backend.Modifier{Set: has, Permille: uint16(n)}
}
