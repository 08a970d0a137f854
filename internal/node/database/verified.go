package database

import (
	"adshard/backend/postgres"
	"adshard/internal/node/config"
)

// CheckVerified checks that a database on another machine must show a certificate that is verified, unless `insecure`
// (db_insecure) is set: a false server in its place would control the cluster. `key` is the setting that has the URL.
func CheckVerified(k *config.Check, key, url string, insecure bool) {
	if insecure || !IsServer(url) {
		return
	}
	host := postgres.Unverified(url)
	k.That(host == "", key, "%s is on another machine, and its certificate is not checked: write sslmode=verify-full&sslrootcert=FILE into the URL, after its ?,"+
		" or db_insecure: true to go without", host)
}
