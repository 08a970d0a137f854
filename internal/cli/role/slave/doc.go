// Package slave is the command line of the slave.
package slave
