package bench

import (
	"bufio"
	"fmt"
	"os"
)

// maxQueries bounds what is read of a file of queries.
const maxQueries = 5_000_000

// readQueries reads a file of queries, one a line; empty lines do not count.
func readQueries(name string) ([]string, error) {
	if name == "" {
		return nil, fmt.Errorf("--queries is missing: name a file with one query a line, such as `adbench corpus --queries FILE` writes")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the queries: %w", err)
	}
	defer f.Close()
	var queries []string
	lines := bufio.NewScanner(f)
	for lines.Scan() && len(queries) < maxQueries {
		if line := lines.Text(); line != "" {
			queries = append(queries, line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("cannot read the queries of %s: %w", name, err)
	}
	if len(queries) == 0 {
		return nil, fmt.Errorf("%s holds no query", name)
	}
	return queries, nil
}
