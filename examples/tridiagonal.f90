subroutine solve(n, lower, diagonal, upper, b, x, info)
    ! x with A x = b, where A has these three diagonals, by elimination without pivoting.
    ! info is 0, or the first row whose pivot is zero; then x is not computed.
    !f2py threadsafe
    implicit none
    integer, intent(in) :: n
    real(8), intent(in) :: lower(n - 1), diagonal(n), upper(n - 1), b(n)
    real(8), intent(out) :: x(n)
    integer, intent(out) :: info
    real(8) :: pivot(n)
    integer :: i

    pivot = diagonal
    x = b
    do i = 1, n
        if (i > 1) then
            pivot(i) = pivot(i) - lower(i - 1) / pivot(i - 1) * upper(i - 1)
            x(i) = x(i) - lower(i - 1) / pivot(i - 1) * x(i - 1)
        end if
        info = i
        if (pivot(i) == 0) return
    end do
    info = 0
    do i = n, 1, -1
        if (i < n) x(i) = x(i) - upper(i) * x(i + 1)
        x(i) = x(i) / pivot(i)
    end do
end subroutine solve
