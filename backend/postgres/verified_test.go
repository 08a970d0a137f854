package postgres_test

import (
	"testing"

	"adshard/backend/postgres"
)

// TestUnverified: each of several hosts counts, and files that do not exist yet do not matter.
func TestUnverified(t *testing.T) {
	for url, host := range map[string]string{
		"postgres://u@db1/d":                                                                 "db1",
		"postgres://u@db1/d?sslmode=disable":                                                 "db1",
		"postgres://u@db1/d?sslmode=allow":                                                   "db1",
		"postgres://u@db1/d?sslmode=prefer&sslrootcert=/none":                                "db1",
		"postgres://u@db1/d?sslmode=require":                                                 "db1",
		"postgres://u@db1/d?sslmode=require&sslrootcert=/none":                               "",
		"postgres://u@db1/d?sslmode=verify-ca&sslrootcert=/none":                             "",
		"postgres://u@db1,db2/d?sslmode=verify-full&sslrootcert=/none&sslcert=/n&sslkey=/no": "",
		"postgres://u@db1/d?sslrootcert=system":                                              "",
		"postgres:///d?host=10.0.0.1":                                                        "10.0.0.1",
		"postgres:///d?host=/run/postgresql":                                                 "",
		"postgres:///d?host=/run/postgresql,db2":                                             "db2",
		"postgres://localhost,127.0.0.1,[::1]:5433/d":                                        "",
		"postgres://127.0.0.1,db2/d":                                                         "db2",
		"postgres:///d?host=/run/postgresql&replica=db3":                                     "db3",
		"postgres://db1/d?sslmode=verify-full&replica=db3":                                   "",
		"postgres://u:p@db1/d":                                                               "", // refused, like the last one
		"postgres://u@db1/d?replica=":                                                        "db1",
		"postgres://u@db1/d?sslmode=what":                                                    "",
	} {
		if got := postgres.Unverified(url); got != host {
			t.Errorf("%s: %q, want %q", url, got, host)
		}
	}
}
