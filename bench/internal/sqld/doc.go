// Package sqld runs MariaDB and PostgreSQL servers for the benchmark. They write a
// commit to the disk before they answer, as they do by default.
package sqld
