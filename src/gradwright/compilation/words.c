/* Whether words of memory are what they were: the first row, counted from 1, whose word is not; 0 if there is none.
   A row may ask for memory that is only there if the rows before it hold. */
enum { EQUAL, EQUAL_INT, NOTHING, SOMETHING };
typedef struct { const char *at; long long word; long long kind; } row_t;

long words(const row_t *rows, long n, long long none) {
  for (long k = 0; k < n; k++) {
    const row_t *r = rows + k;
    long long found = r->kind == EQUAL_INT ? *(const int *) r->at : *(const long long *) r->at;
    int good = r->kind <= EQUAL_INT ? found == r->word : (found == 0 || found == none) == (r->kind == NOTHING);
    if (!good) return k + 1;
  }
  return 0;
}
