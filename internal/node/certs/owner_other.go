//go:build !unix

package certs

import "os"

// allowed returns the permissions that a secret file may have: where there are none, any.
func allowed(os.FileInfo) os.FileMode { return 0o777 }
